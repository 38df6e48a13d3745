import type { Statement } from './statement.js';

/** The transaction is an argument: what takes one runs in it. */
export interface Transaction {
  query<R>(statement: Statement, values: unknown[]): Promise<R[]>;
  /** Runs work; when it throws, everything since the start of work is undone and the transaction goes on. */
  savepoint<R>(work: () => Promise<R>): Promise<R>;
}
