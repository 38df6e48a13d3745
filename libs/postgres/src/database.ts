import { Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { DatabaseUnavailableError } from './errors.js';
import { preparedLimitStatement, preparedStatement } from './prepared.js';
import { Session } from './session.js';
import type { Statement } from './statement.js';
import type { Transaction, TransactionOptions } from './transaction.js';
import { Turnstile } from './turnstile.js';

export interface PoolStats {
  total: number;
  idle: number;
  waiting: number;
}

/** Adds the time of a piece of work to whatever measures it. */
export type Measure = <R>(part: 'db', work: () => Promise<R>) => Promise<R>;

const DEFAULT_TIMEOUT_MS = 5_000;
const TURNSTILE_LIMITS = { stallMs: 900, waitMs: 5_000 };

/** PostgreSQL by plain, prepared SQL, over the pool of TypeORM's data source. Every call ends by a deadline. */
@Injectable()
export class Database {
  readonly name = 'database';
  private readonly pool: Pool;
  private readonly turnstile: Turnstile;

  constructor(
    readonly dataSource: DataSource,
    private readonly measure: Measure = (_, work) => work(),
  ) {
    this.pool = (dataSource.driver as unknown as { master: Pool }).master;
    this.turnstile = new Turnstile(this.pool.options.max, TURNSTILE_LIMITS);
  }

  /** One statement that commits by itself. A connection that breaks meanwhile leaves its outcome unknown. */
  query<R>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    return this.measure('db', () =>
      this.withSession(DEFAULT_TIMEOUT_MS, (session) => session.autocommit(statement, values)),
    );
  }

  /** BEGIN, work, COMMIT on one connection; what work throws rolls back and is thrown on. */
  transaction<R>(work: (tx: Transaction) => Promise<R>, options: TransactionOptions<R> = {}): Promise<R> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    return this.measure('db', () => this.withSession(timeoutMs, (session) => session.transaction(work, options)));
  }

  /** False when nothing is prepared under this name in this database: never was, or somebody has ended it. */
  commitPrepared(gid: string): Promise<boolean> {
    return this.endPrepared('commit', gid);
  }

  rollbackPrepared(gid: string): Promise<boolean> {
    return this.endPrepared('rollback', gid);
  }

  /** The names of those that have waited so long for their second phase, oldest first. */
  async preparedTransactions(olderThanMs = 0): Promise<string[]> {
    return (await this.query<{ gid: string }>(preparedStatement, [olderThanMs])).map(({ gid }) => gid);
  }

  /** Whether the server takes prepared transactions at all. */
  async canPrepare(): Promise<boolean> {
    const [row] = await this.query<{ limit: number }>(preparedLimitStatement);
    return row!.limit > 0;
  }

  /** For the readiness of the app. A queue that moves is proof enough, and one more in it would only be late. */
  async check(): Promise<void> {
    if (this.turnstile.waiting > 0 && this.turnstile.moving) return;
    await this.query({ name: 'ready', text: 'select 1' });
  }

  poolStats(): PoolStats {
    return { total: this.pool.totalCount, idle: this.pool.idleCount, waiting: this.turnstile.waiting };
  }

  async close(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  private endPrepared(how: 'commit' | 'rollback', gid: string): Promise<boolean> {
    return this.measure('db', () => this.withSession(DEFAULT_TIMEOUT_MS, (session) => session.endPrepared(how, gid)));
  }

  private async withSession<R>(timeoutMs: number, work: (session: Session) => Promise<R>): Promise<R> {
    await this.turnstile.enter();
    try {
      const session = new Session(await this.connect(), timeoutMs);
      try {
        return await work(session);
      } finally {
        session.end();
      }
    } finally {
      this.turnstile.leave();
    }
  }

  private async connect(): Promise<PoolClient> {
    try {
      return await this.pool.connect();
    } catch (cause) {
      if (this.pool.totalCount === 0) this.turnstile.refuseAll(cause);
      throw new DatabaseUnavailableError({ cause });
    }
  }
}
