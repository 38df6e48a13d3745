import { randomUUID } from 'node:crypto';
import { Pool, type PoolClient } from 'pg';
import { IssueRepository } from '../../apps/coupon/src/issuance/issue.repository.js';

type Executor = Parameters<IssueRepository['issueOne']>[0];

const connections = 2;
// Its statements only: they are run on connections of the benchmark's own.
const coupons = new IssueRepository(undefined as never);

/** What PostgreSQL does when nothing stands before it: the app's own statements, without the app. */
export class BareSql {
  private readonly pool: Pool;
  private users = 0;

  constructor(url: string) {
    // On one hot row two connections are faster than many.
    this.pool = new Pool({ connectionString: url, max: connections });
  }

  /** One conditional statement for each user, that commits by itself. */
  one(couponId: number, ms: number): Promise<number> {
    return this.perSecond(ms, async (client) => {
      const issued = await coupons.issueOne(executor(client), couponId, this.user(), randomUUID());
      if (!issued) throw new Error('the coupon ran out');
      return 1;
    });
  }

  /** Lock the row, one statement for all, commit. */
  many(couponId: number, users: number, ms: number): Promise<number> {
    return this.perSecond(ms, async (client) => {
      const names = Array.from({ length: users }, () => this.user());
      const db = executor(client);
      await client.query('begin');
      await coupons.lockForBatch(db, couponId);
      await coupons.issueMany(
        db,
        couponId,
        names,
        names.map(() => randomUUID()),
        0,
      );
      await client.query('commit');
      return users;
    });
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  private user = (): string => `bare-${this.users++}`;

  private async perSecond(ms: number, work: (client: PoolClient) => Promise<number>): Promise<number> {
    const begin = performance.now();
    let done = 0;
    const loop = async () => {
      const client = await this.pool.connect();
      while (performance.now() < begin + ms) done += await work(client);
      client.release();
    };
    await Promise.all(Array.from({ length: connections }, loop));
    return (done / (performance.now() - begin)) * 1000;
  }
}

const executor = (client: PoolClient): Executor => ({
  query: async (statement, values) => (await client.query<never>({ ...statement, values })).rows,
});
