import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build, startBuilt } from '../support/built.js';
import { createCoupon, grab, outcomes, untilWaiting } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/servers.js';

let database: TestDatabase;
let redis: Redis;

beforeAll(async () => {
  await build();
  database = await createTestDatabase();
  redis = new Redis(testRedisUrl());
}, 300_000);
afterAll(async () => {
  redis?.disconnect();
  await database?.drop();
});

describe('SIGTERM while one has the lock and others wait for it', () => {
  it('lets the holder finish, tells the waiters to repeat elsewhere, frees the lock and ends with 0 inside 10 s', async () => {
    const coupon = await startBuilt('coupon', { COUPON_DATABASE_URL: database.url, ISSUE_STRATEGY: 'pubsub' });
    const couponId = await createCoupon(coupon.url!);
    const row = await database.hold('select from coupons where id = $1 for update', [couponId]);
    const grabs = ['ann', 'ben', 'eve'].map((user) => grab(coupon.url!, couponId, user));
    await untilWaiting(coupon.url!, 2);

    const startedAt = performance.now();
    const exit = coupon.stop();
    // The waiters are answered while the holder still works: only then does it get on.
    const firstTwo: unknown[] = [];
    await new Promise<void>((resolve) => {
      for (const each of grabs) void each.then((reply) => firstTwo.push(reply) === 2 && resolve());
    });
    await row.letGo();
    const replies = await Promise.all(grabs);
    expect(outcomes(replies)).toEqual({ '201': 1, '503 SHUTTING_DOWN': 2 });
    for (const { status, json } of replies) expect([status, json.retryable ?? false]).toEqual([status, status === 503]);
    expect(await exit, coupon.output()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(await redis.exists(`lock:coupon:issue:${couponId}`)).toBe(0);
    const stored = await database.query('select from user_coupons where coupon_id = $1', [couponId]);
    expect(stored).toHaveLength(1);
  });
});
