import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLocks, fenceColumn, fenceTable, redisStore, StaleFenceError, type Locks } from '@firstcome/lock';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/servers.js';

const guard = fenceTable();
const column = fenceColumn({ table: 'resources' });
let database: TestDatabase;
let pool: pg.Pool;
let redis: Redis;
let locks: Locks;
let key: string;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 4 });
  await pool.query(guard.createSql);
  await pool.query('create table resources (id bigint primary key)');
  await pool.query(column.addSql);
  await pool.query('insert into resources (id) values (1)');
  redis = new Redis(testRedisUrl());
  locks = createLocks({ store: redisStore(redis) });
});

beforeEach(() => {
  key = `guard:${process.pid}:${Math.random()}`;
});

afterAll(async () => {
  await locks.close();
  redis.disconnect();
  await pool.end();
  await database.drop();
});

async function transaction<R>(work: (tx: pg.PoolClient) => Promise<R>): Promise<R> {
  const tx = await pool.connect();
  try {
    await tx.query('begin');
    const result = await work(tx);
    await tx.query('commit');
    return result;
  } catch (error) {
    await tx.query('rollback');
    throw error;
  } finally {
    tx.release();
  }
}

describe('the PostgreSQL guard', () => {
  it.each([
    { name: 'a table', shape: guard, resource: 'r1' },
    { name: 'a column', shape: column, resource: 1 },
  ])('refuses a fence older than the newest seen, as $name', async ({ shape, resource }) => {
    const fenced = (fence: number) => ({ fence, store: 'redis', key });
    await transaction((tx) => shape.claim(tx, resource, fenced(10)));
    await transaction((tx) => shape.claim(tx, resource, fenced(10)));
    await transaction((tx) => shape.claim(tx, resource, fenced(12)));
    const refused = await transaction((tx) => shape.claim(tx, resource, fenced(11))).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StaleFenceError);
    expect(refused).toMatchObject({ code: 'STALE_FENCE', fence: 11, guardFence: 12 });
  });

  it('keeps the fences of two stores apart', async () => {
    await transaction((tx) => guard.claim(tx, 'apart', { fence: 100, store: 'redis', key }));
    const other = transaction((tx) => guard.claim(tx, 'apart', { fence: 1, store: 'redlock', key }));
    await expect(other).resolves.toBeUndefined();
  });

  it('a claim in an open transaction makes an older one wait, and then refuses it', async () => {
    const tx = await pool.connect();
    await tx.query('begin');
    await guard.claim(tx, 'open', { fence: 7, store: 'redis', key });
    const older = transaction((other) => guard.claim(other, 'open', { fence: 6, store: 'redis', key })).catch(
      (error: unknown) => error,
    );
    await database.untilBlocked(1);
    await tx.query('commit');
    tx.release();
    expect(await older).toBeInstanceOf(StaleFenceError);
  });

  it('a store that fell behind the guard is raised above it, and the work is done again once', async () => {
    const ahead = (Date.now() + 3_600_000) * 1000;
    await transaction((tx) => guard.claim(tx, key, { fence: ahead, store: 'redis', key }));
    const fences: number[] = [];
    const work = () =>
      locks.withLock(key, (lease) => {
        fences.push(lease.fence);
        return transaction((tx) => guard.claim(tx, key, lease));
      });
    await work();
    expect(fences).toHaveLength(2);
    expect(fences[1]).toBeGreaterThan(ahead);
    await work();
    expect(fences).toHaveLength(3);
  });

  it('a batch behind the guard is worked on again for the same callers', async () => {
    const ahead = (Date.now() + 3_600_000) * 1000;
    await transaction((tx) => guard.claim(tx, key, { fence: ahead, store: 'redis', key }));
    let runs = 0;
    const add = (item: number) =>
      locks.batch(key, item, async (items: number[], lease) => {
        runs += 1;
        await transaction((tx) => guard.claim(tx, key, lease));
        return items.map((each) => each * 2);
      });
    expect(await Promise.all([add(1), add(2), add(3)])).toEqual([2, 4, 6]);
    expect(runs).toBeLessThanOrEqual(3);
  });

  it('a stale fence of somebody who lost the lock is not tried again', async () => {
    let runs = 0;
    const stale = locks.withLock(
      key,
      async (lease) => {
        runs += 1;
        await locks.forceRelease(key);
        await transaction((tx) => guard.claim(tx, key, { fence: lease.fence + 5, store: 'redis', key }));
        await transaction((tx) => guard.claim(tx, key, { fence: lease.fence, store: 'redis', key }));
      },
      { autoRenew: false },
    );
    await expect(stale).rejects.toBeInstanceOf(StaleFenceError);
    expect(runs).toBe(1);
  });
});
