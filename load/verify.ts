// After every block: all invariants of CONTRACT.md section 6 by SQL, and the client log against the rows.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { LoadError } from './progress.js';
import type { Finding } from './reconcile.js';
import { rowsOf } from './stores.js';
import type { Stores } from './stores.js';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Invariant {
  id: string;
  name: string;
  /** Selects the rows that break it. */
  text?: string;
  /** Or tries what must not succeed; rolled back. */
  attempt?: (ask: (text: string, values?: unknown[]) => Promise<object[]>) => Promise<object[]>;
}

/** The same lists that `npm run verify` checks, from the built apps that are running. */
async function invariantsOf(app: 'coupon' | 'order'): Promise<Invariant[]> {
  const file = join(root, 'dist', 'apps', app, 'src', 'invariants.js');
  if (!existsSync(file)) throw new LoadError(`${file} is missing: npm run build makes it.`);
  const { invariants } = (await import(pathToFileURL(file).href)) as { invariants: Invariant[] };
  return invariants;
}

async function breachesOf(pool: Stores['coupon'], { text, attempt }: Pick<Invariant, 'text' | 'attempt'>) {
  if (text !== undefined) return rowsOf<object>(pool, text);
  const client = await pool.connect();
  try {
    await client.query('begin');
    return await attempt!(async (statement, values) => (await client.query<object>(statement, values)).rows);
  } finally {
    await client.query('rollback').finally(() => client.release());
  }
}

export async function checkInvariants(stores: Stores): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const app of ['coupon', 'order'] as const) {
    for (const { id, name, ...rule } of await invariantsOf(app)) {
      const breaches = await breachesOf(stores[app], rule);
      if (breaches.length > 0) {
        findings.push({ law: id, text: `${app}: ${name}`, count: breaches.length, examples: breaches.slice(0, 5) });
      }
    }
  }
  return [...findings, ...(await checkLocks(stores))];
}

/** I11: at rest nothing below `lock:` but fence counters, and what jobs and desk sessions hold; never without a TTL. */
export async function checkLocks({ lockStores }: Pick<Stores, 'lockStores'>): Promise<Finding[]> {
  const left: { key: string; ttlMs: number; store: number }[] = [];
  for (const [store, redis] of lockStores.entries()) {
    for await (const keys of redis.scanStream({ match: 'lock:*', count: 1000 }) as AsyncIterable<string[]>) {
      for (const key of keys.filter((name) => !name.startsWith('lock:fence:'))) {
        const ttlMs = await redis.pttl(key);
        const lawful = /^lock:(queue:)?\{?(job|desk):/.test(key) && ttlMs !== -1;
        // Store 0 is the main one, the others are those of `redlock`, in the order of REDLOCK_URLS.
        if (ttlMs !== -2 && !lawful) left.push({ key, ttlMs, store });
      }
    }
  }
  return left.length === 0
    ? []
    : [{ law: 'I11', text: 'a lock or a waiter is left at rest', count: left.length, examples: left.slice(0, 5) }];
}
