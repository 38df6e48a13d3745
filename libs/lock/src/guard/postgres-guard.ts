import { LockUsageError, StaleFenceError } from '../errors.js';
import type { Lease } from '../lease.js';

/** A transaction's client: pg's own, or anything with the same `query` that answers with rows. */
export interface GuardExecutor {
  query(statement: { name: string; text: string }, values: unknown[]): Promise<unknown>;
}

export type Fenced = Pick<Lease, 'fence' | 'store' | 'key'>;

/**
 * Refuses work under a fence that is older than the newest seen. Claim it first in the transaction, where it locks the
 * guard's row until the commit: a check that only the write makes lets a stale read through.
 */
export interface PostgresGuard {
  /** Throws StaleFenceError; the transaction is still usable, and should be rolled back. */
  claim(tx: GuardExecutor, resource: string | number, lease: Fenced): Promise<void>;
}

/** The guard as a table of its own: for resources that have no row, or several. Fences of two stores are kept apart. */
export function fenceTable(table = 'lock_fences'): PostgresGuard & { readonly createSql: string } {
  const name = identifier(table);
  const claim = {
    name: `claim-${table}`,
    text: `insert into ${name} as guard (store, resource, fence) values ($1, $2, $3)
           on conflict (store, resource) do update set fence = excluded.fence where guard.fence <= excluded.fence
           returning fence`,
  };
  const seen = { name: `seen-${table}`, text: `select fence from ${name} where store = $1 and resource = $2` };
  return {
    createSql: `create table if not exists ${name} (
  store text not null,
  resource text not null,
  fence bigint not null check (fence > 0),
  primary key (store, resource)
)`,
    async claim(tx, resource, lease) {
      const values = [lease.store, String(resource)];
      const claimed = await rows(tx, claim, [...values, lease.fence]);
      if (claimed.length > 0) return;
      throw stale(lease, (await rows(tx, seen, values))[0]);
    },
  };
}

/** The guard as a column of the resource's own row: one statement less, and one store only. */
export function fenceColumn(options: {
  table: string;
  id?: string;
  column?: string;
}): PostgresGuard & { readonly addSql: string } {
  const [table, id, column] = [options.table, options.id ?? 'id', options.column ?? 'fence'].map(identifier);
  const statement = (verb: string) => `${verb}-fence-${options.table}-${options.column ?? 'fence'}`;
  const claim = {
    name: statement('claim'),
    text: `update ${table} set ${column} = $2 where ${id} = $1 and ${column} <= $2 returning ${column} as fence`,
  };
  const seen = { name: statement('seen'), text: `select ${column} as fence from ${table} where ${id} = $1` };
  return {
    addSql: `alter table ${table} add column if not exists ${column} bigint not null default 0`,
    async claim(tx, resource, lease) {
      if ((await rows(tx, claim, [resource, lease.fence])).length > 0) return;
      const [row] = await rows(tx, seen, [resource]);
      if (!row) throw new LockUsageError(`${options.table} has no row ${String(resource)} to guard.`, lease.key);
      throw stale(lease, row);
    },
  };
}

async function rows(
  tx: GuardExecutor,
  statement: { name: string; text: string },
  values: unknown[],
): Promise<{ fence: unknown }[]> {
  // A fresh object: pg writes the values into the one it is given.
  const answer = (await tx.query({ ...statement }, values)) as { fence: unknown }[] | { rows: { fence: unknown }[] };
  return Array.isArray(answer) ? answer : answer.rows;
}

function stale(lease: Fenced, row: { fence: unknown } | undefined): StaleFenceError {
  // bigint arrives as a string from a plain pg client.
  return new StaleFenceError(lease.fence, Number(row?.fence ?? lease.fence), { key: lease.key });
}

function identifier(name: string): string {
  const parts = name.split('.');
  if (parts.some((part) => !/^[a-z_][a-z0-9_]*$/.test(part))) {
    throw new LockUsageError(`"${name}" is not a plain lower-case table or column name.`);
  }
  return parts.map((part) => `"${part}"`).join('.');
}
