import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { costOf } from '../../load/cost.js';
import { countersAfter, countersBefore, untilQuiet, watchConnections } from '../../load/measure.js';
import { openStores, rowsOf } from '../../load/stores.js';
import type { Stores } from '../../load/stores.js';
import type { System } from '../../load/system.js';
import { checkLocks } from '../../load/verify.js';
import { testEnvironment } from '../support/apps.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/servers.js';

describe('what a block cost', () => {
  const redlockUrls = testEnvironment()['REDLOCK_URLS']!.split(',');
  let databases: TestDatabase[];
  let system: System;
  let stores: Stores;

  beforeAll(async () => {
    databases = [await createTestDatabase(), await createTestDatabase()];
    const [coupons, orders] = databases;
    system = {
      coupon: [],
      order: [],
      couponDatabaseUrl: coupons!.url,
      orderDatabaseUrl: orders!.url,
      redisUrl: testRedisUrl(),
      redlockUrls,
      adminToken: '',
      tokenFor: () => '',
      stop: async () => {},
    };
    stores = await openStores(system);
  });
  afterAll(async () => {
    await stores?.close();
    for (const database of databases ?? []) await database.drop();
  });

  it('is no transaction of this runner itself, and every transaction of others', async () => {
    const [coupons] = databases;
    await rowsOf(stores.coupon, 'select 1');
    await rowsOf(stores.order, 'select 1');
    const before = await countersBefore(system, stores);
    const watch = watchConnections(stores);
    for (let n = 0; n < 40; n += 1) await rowsOf(n % 2 === 0 ? stores.coupon : stores.order, 'select 1');
    for (let n = 0; n < 25; n += 1) await coupons!.query('select 1');
    // Its connection adds up at the end of a statement that reads a table, once a second.
    await pause(1050);
    await coupons!.query('select from pg_class limit 1');
    const peak = await watch.stop();
    expect(await untilQuiet(stores)).toBe(true);
    const after = await countersAfter(system, stores);
    const { transactions } = costOf(before, after, { exitCode: 0, clientLog: '', output: '' }, peak);
    // A new connection is a transaction too.
    expect(transactions).toBeGreaterThanOrEqual(26);
    expect(transactions).toBeLessThan(32);
  });

  it('is counted once for each server, however many of its databases redlock votes on', async () => {
    expect(stores.lockStores).toHaveLength(4);
    expect(stores.redisServers).toMatchObject([{ own: 4 }]);
    const { redisServers } = await countersBefore(system, stores);
    expect(redisServers).toBe(1);
    const { redlockUrls: _, ...silent } = system;
    expect((await countersBefore(silent, stores)).redisServers).toBeUndefined();
  });

  it('finds a lock that is left on a server of redlock', async () => {
    const node = new Redis(redlockUrls[1]!);
    try {
      expect(await checkLocks(stores)).toEqual([]);
      await node.set('lock:coupon:issue:1', 'token', 'PX', 60_000);
      expect(await checkLocks(stores)).toMatchObject([
        { law: 'I11', count: 1, examples: [{ key: 'lock:coupon:issue:1', store: 2 }] },
      ]);
    } finally {
      await node.del('lock:coupon:issue:1');
      node.disconnect();
    }
  });
});
