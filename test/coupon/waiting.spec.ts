import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon, testEnvironment } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createCoupon, grab } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/servers.js';

const waiters = 20;
let database: TestDatabase;
let instance: RunningApp;
let servers: Redis[];

beforeAll(async () => {
  database = await createTestDatabase();
  // The single server of most strategies, and the three of redlock.
  servers = [testRedisUrl(), ...testEnvironment().REDLOCK_URLS!.split(',')].map((url) => new Redis(url));
  instance = await startCoupon({ COUPON_DATABASE_URL: database.url, DATABASE_POOL_SIZE: '1' });
});
afterAll(async () => {
  await instance?.close();
  for (const server of servers ?? []) server.disconnect();
  await database?.drop();
});

/** How many calls of this process wait for a lock, as its metrics say. */
const waiting = async () => {
  const { text } = await call(instance.url, 'GET', '/metrics');
  const counts = [...text.matchAll(/^firstcome_lock_waiters(?:\{.*\})? (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
};

describe.each(['spin', 'adaptive', 'pubsub', 'queue', 'redlock', 'batched'])('who waits under %s', (strategy) => {
  it('holds no connection of the database meanwhile: others are served by the only one', async () => {
    const couponId = await createCoupon(instance.url);
    const key = `lock:coupon:issue:${couponId}`;
    for (const server of servers) await server.set(key, 'somebody else', 'PX', 60_000);
    const headers = { 'x-issue-strategy': strategy };
    const grabs = Array.from({ length: waiters }, (_, n) => grab(instance.url, couponId, `user-${n}`, { headers }));
    // A batch has one waiter for all of its callers.
    const expected = strategy === 'batched' ? 1 : waiters;
    await expect.poll(waiting, { timeout: 10_000 }).toBe(expected);

    const { status } = await call(instance.url, 'GET', `/v1/coupons/${couponId}`);
    expect([status, await waiting()]).toEqual([200, expected]);

    for (const server of servers) await server.del(key);
    expect((await Promise.all(grabs)).map((reply) => reply.status)).toEqual(grabs.map(() => 201));
  });
});
