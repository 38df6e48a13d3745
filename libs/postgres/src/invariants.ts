import type { Database } from './database.js';

type Row = Record<string, unknown>;
/** Runs plain SQL in the transaction of an attempt. */
export type Ask = (text: string, values?: unknown[]) => Promise<Row[]>;

/**
 * A rule about a database at rest: the rows that break it are the answer of one statement, or of an attempt at what must
 * not succeed, which is always rolled back.
 */
export type Invariant = { id: string; name: string } & ({ text: string } | { attempt: (ask: Ask) => Promise<Row[]> });

export interface CheckedInvariant {
  id: string;
  name: string;
  breaches: number;
  /** The first few. */
  examples: Row[];
}

const SHOWN = 10;

/** Longer than any recovery leaves one alone. A prepared transaction holds its locks until somebody ends it. */
export const nothingLeftPrepared: Invariant = {
  id: 'I7',
  name: 'no prepared transaction is left: the locks of each would be held for ever',
  text: `select gid, prepared from pg_prepared_xacts
          where database = current_database() and prepared < now() - interval '30 seconds'`,
};

export async function checkInvariants(database: Database, invariants: Invariant[]) {
  const checked: CheckedInvariant[] = [];
  for (const [at, invariant] of invariants.entries()) {
    const breaches = await breachesOf(database, invariant, `invariant-${at}`);
    const { id, name } = invariant;
    checked.push({ id, name, breaches: breaches.length, examples: breaches.slice(0, SHOWN) });
  }
  return { ok: checked.every(({ breaches }) => breaches === 0), invariants: checked };
}

async function breachesOf(database: Database, invariant: Invariant, statement: string): Promise<Row[]> {
  if ('text' in invariant) return database.query<Row>({ name: statement, text: invariant.text });
  let step = 0;
  let breaches: Row[] = [];
  const attempted = database.transaction(async (tx) => {
    breaches = await invariant.attempt((text, values = []) =>
      tx.query<Row>({ name: `${statement}-${(step += 1)}`, text }, values),
    );
    throw new RolledBack();
  });
  await attempted.catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error;
  });
  return breaches;
}

class RolledBack extends Error {}
