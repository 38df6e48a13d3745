import type { Statement } from './statement.js';

/** The transaction is an argument: what takes one runs in it. */
export interface Transaction {
  query<R>(statement: Statement, values: unknown[]): Promise<R[]>;
  /** Runs work; when it throws, everything since the start of work is undone and the transaction goes on. */
  savepoint<R>(work: () => Promise<R>): Promise<R>;
}

export interface TransactionOptions<R = unknown> {
  /** From BEGIN to the reply to COMMIT; then the connection is cut, and the server rolls back what was not committed. */
  timeoutMs?: number;
  /** Called right before COMMIT is sent: what throws here rolls back. */
  beforeCommit?: () => void;
  /**
   * Two phases instead of COMMIT: prepared under the name that this returns for the result, and then in the hands of whoever
   * commits or rolls back that name. Undefined is COMMIT.
   */
  prepareAs?: (result: R) => string | undefined;
  /** The second phase at once and on the same connection: all the others may be waiting for the rows of this one. */
  commitPrepared?: boolean;
}
