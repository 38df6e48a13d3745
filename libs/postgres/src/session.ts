import { DatabaseError, type PoolClient } from 'pg';
import {
  DatabaseUnavailableError,
  OutcomeUnknownError,
  PreparedTransactionBusyError,
  PreparedTransactionGoneError,
  PreparedTransactionsOffError,
  TransactionTimeoutError,
} from './errors.js';
import { isAbsent, isNotNow, literalOf } from './prepared.js';
import type { Statement } from './statement.js';
import type { Transaction, TransactionOptions } from './transaction.js';

/** One connection while it is checked out: its deadline, what broke it, and whether the pool may have it back. */
export class Session implements Transaction {
  private broken: Error | undefined;
  private savepoints = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly client: PoolClient,
    timeoutMs: number,
  ) {
    client.on('error', this.onError);
    this.timer = setTimeout(() => this.cut(new TransactionTimeoutError(timeoutMs)), timeoutMs);
  }

  async autocommit<R>(statement: Statement, values: unknown[]): Promise<R[]> {
    try {
      return await this.run<R>(statement, values);
    } catch (error) {
      throw this.broken ? new OutcomeUnknownError({ cause: error }) : error;
    }
  }

  async transaction<R>(work: (tx: Transaction) => Promise<R>, options: TransactionOptions<R> = {}): Promise<R> {
    const { beforeCommit, prepareAs, commitPrepared } = options;
    let result: R;
    let gid: string | undefined;
    try {
      await this.command('begin');
      result = await work(this);
      beforeCommit?.();
      gid = prepareAs?.(result);
      // Nothing is decided by it: what breaks here counts as not done, and whoever knows the name rolls it back.
      if (gid !== undefined) await this.prepare(gid);
    } catch (error) {
      await this.rollBack();
      throw this.unavailable(error);
    }
    if (gid === undefined) await this.commit();
    else if (commitPrepared && !(await this.endPrepared('commit', gid))) throw new PreparedTransactionGoneError(gid);
    return result;
  }

  /** The second phase, on this connection or any other. False when nothing is prepared under this name (any more). */
  async endPrepared(how: 'commit' | 'rollback', gid: string): Promise<boolean> {
    try {
      await this.command(`${how} prepared ${literalOf(gid)}`);
      return true;
    } catch (error) {
      if (this.broken) throw new OutcomeUnknownError({ cause: error });
      if (isAbsent(error)) return false;
      throw isNotNow(error) ? new PreparedTransactionBusyError(gid, { cause: error }) : error;
    }
  }

  async query<R>(statement: Statement, values: unknown[]): Promise<R[]> {
    return this.run<R>(statement, values);
  }

  async savepoint<R>(work: () => Promise<R>): Promise<R> {
    this.savepoints += 1;
    const name = `s${this.savepoints}`;
    await this.command(`savepoint ${name}`);
    try {
      // Not released when work succeeds: COMMIT does it, without a round trip of its own.
      return await work();
    } catch (error) {
      if (!this.broken) await this.command(`rollback to savepoint ${name}; release savepoint ${name}`);
      throw error;
    }
  }

  /** Gives the connection back, or away when it cannot be trusted any more. */
  end(): void {
    clearTimeout(this.timer);
    this.client.release(this.broken ?? false);
    this.client.off('error', this.onError);
  }

  private async commit(): Promise<void> {
    let command: string;
    try {
      command = await this.command('commit');
    } catch (error) {
      throw this.broken ? new OutcomeUnknownError({ cause: error }) : error;
    }
    // An error inside was caught and not undone: PostgreSQL answers such a COMMIT with ROLLBACK, and no error.
    if (command !== 'COMMIT') throw swallowed();
  }

  private async prepare(gid: string): Promise<void> {
    let command: string;
    try {
      command = await this.command(`prepare transaction ${literalOf(gid)}`);
    } catch (error) {
      throw isNotNow(error) ? new PreparedTransactionsOffError({ cause: error }) : error;
    }
    if (command !== 'PREPARE') throw swallowed();
  }

  private async rollBack(): Promise<void> {
    if (this.broken) return;
    await this.command('rollback').catch((error: Error) => this.cut(error));
  }

  private async run<R>({ name, text }: Statement, values: unknown[]): Promise<R[]> {
    if (this.broken) throw this.broken;
    try {
      const result = await this.client.query<never>({ name, text, values });
      return result.rows;
    } catch (error) {
      throw this.noticed(error);
    }
  }

  private async command(text: string): Promise<string> {
    if (this.broken) throw this.broken;
    try {
      const result = await this.client.query(text);
      return result.command;
    } catch (error) {
      throw this.noticed(error);
    }
  }

  /** A FATAL error is the last word of a backend: its connection is gone, though the socket may not know it yet. */
  private noticed(error: unknown): unknown {
    if (error instanceof DatabaseError && (error.severity === 'FATAL' || error.severity === 'PANIC'))
      this.broken ??= error;
    return error;
  }

  private unavailable(error: unknown): unknown {
    if (!this.broken) return error;
    return this.broken instanceof TransactionTimeoutError
      ? this.broken
      : new DatabaseUnavailableError({ cause: error });
  }

  private cut(reason: Error): void {
    this.broken ??= reason;
    // With a query in flight this destroys the socket, which rejects the query.
    void this.client.end();
  }

  // Without a listener on the checked-out client, a backend that dies would end the process.
  private readonly onError = (error: Error): void => {
    this.broken ??= error;
  };
}

function swallowed(): Error {
  return new Error('The transaction was rolled back: an error of a statement was swallowed.');
}
