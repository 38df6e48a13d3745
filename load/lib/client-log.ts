// The clients' own log: one JSON line per request that k6 sent, written through its console. It is the evidence that the
// rows are compared with (I9), so it says what the client was told and nothing that was read back from the system.
import type { Outcome } from './outcome.js';

export interface ClientRecord {
  /** The phase of the arrival shape. */
  phase: string;
  /** What was asked: issue, order, pay, cancel, read, probe. */
  request: string;
  /** When it was sent, milliseconds since 1970, by the clock of the machine that runs k6. */
  at: number;
  /** Milliseconds until the whole answer was there, the wait for a connection included. */
  ms: number;
  /** By when it was there, by the clock of `at`: later than at + ms where k6 was busy with itself. */
  told?: number;
  /** The token's subject; '' for a public read. */
  user: string;
  /** Which instance was asked: its place in the list. */
  instance: number;
  /** 0 when there was no answer. */
  status: number;
  /** The problem's code, '' on success. */
  code: string;
  outcome: Outcome;
  key?: string;
  replayed?: boolean;
  /** The object asked about, where the answer alone does not say: the order of a payment. */
  about?: string;
  /** The object that the answer names: a user coupon, an order. */
  id?: string;
  serial?: number;
  /** An order's state, as answered. */
  state?: string;
  lock?: number;
  hold?: number;
  db?: number;
}

export class ClientLogError extends Error {}

/** Throws on a line that is cut or is no record: a log that lost something proves nothing. */
export function parseClientLog(text: string): ClientRecord[] {
  const records: ClientRecord[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    let record: ClientRecord;
    try {
      record = JSON.parse(line) as ClientRecord;
    } catch {
      throw new ClientLogError(`Line ${index + 1} of the client log is no JSON: ${line.slice(0, 200)}`);
    }
    if (
      typeof record !== 'object' ||
      record === null ||
      typeof record.outcome !== 'string' ||
      !Number.isFinite(record.at)
    ) {
      throw new ClientLogError(`Line ${index + 1} of the client log is no record: ${line.slice(0, 200)}`);
    }
    records.push(record);
  }
  return records;
}
