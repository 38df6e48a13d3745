import { LockService } from '@firstcome/lock/nest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import type { Reply } from '../support/client.js';
import { createCoupon, grab } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';

let database: TestDatabase;
let one: RunningApp;

beforeAll(async () => {
  database = await createTestDatabase();
  one = await startCoupon({ COUPON_DATABASE_URL: database.url });
});
afterAll(async () => {
  await one?.close();
  await database?.drop();
});

describe.each(['batched', 'queue'])('first come, first served: the strategy %s', (strategy) => {
  it('gives serials in the order in which 30 users came to an instance, without one inversion', async () => {
    const couponId = await createCoupon(one.url);
    const locks = one.app.get(LockService);
    // Somebody has the lock until all are there; each is sent once the one before it waits.
    const lease = await locks.acquire(`coupon:issue:${couponId}`);
    const sent: Promise<Reply>[] = [];
    for (let place = 0; place < 30; place++) {
      const before = locks.stats().waiters;
      sent.push(grab(one.url, couponId, `user-${place}`, { headers: { 'x-issue-strategy': strategy } }));
      while (locks.stats().waiters === before) await new Promise(setImmediate);
    }
    await lease.release();
    const serials = (await Promise.all(sent)).map(({ json }) => json.serial as number);
    expect(serials).toEqual(serials.map((_, place) => place + 1));
  });
});
