import type { Database } from './database.js';
import { sql } from './statement.js';

/** A rule about the rows of a database at rest: `text` selects those that break it. */
export interface Invariant {
  id: string;
  name: string;
  text: string;
}

export interface CheckedInvariant {
  id: string;
  name: string;
  breaches: number;
  /** The first few. */
  examples: Record<string, unknown>[];
}

const SHOWN = 10;

export async function checkInvariants(database: Database, invariants: Invariant[]) {
  const checked: CheckedInvariant[] = [];
  for (const [at, { id, name, text }] of invariants.entries()) {
    const breaches = await database.query<Record<string, unknown>>(sql(`invariant-${at}`, text));
    checked.push({ id, name, breaches: breaches.length, examples: breaches.slice(0, SHOWN) });
  }
  return { ok: checked.every(({ breaches }) => breaches === 0), invariants: checked };
}
