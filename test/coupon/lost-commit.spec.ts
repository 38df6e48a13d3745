import { LockService } from '@firstcome/lock/nest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Proxy } from '../lock/support/proxy.js';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import type { Call, Reply } from '../support/client.js';
import { createCoupon, grab, outcomes } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';

// As the driver sends it, and no statement's text does.
const commit = 'commit\0';

let database: TestDatabase;
let proxy: Proxy;
let one: RunningApp;

beforeAll(async () => {
  database = await createTestDatabase();
  const url = new URL(database.url);
  proxy = await Proxy.start(Number(url.port));
  url.port = String(proxy.port);
  one = await startCoupon({ COUPON_DATABASE_URL: url.href });
});
afterAll(async () => {
  await one?.close();
  await proxy?.close();
  await database?.drop();
});

const users = Array.from({ length: 20 }, (_, index) => `user-${index}`);
const waiting = () => one.app.get(LockService).stats().waiters;
const stored = (couponId: number) =>
  database.query<{ id: string; user_id: string }>(
    'select id::text, user_id from user_coupons where coupon_id = $1 order by serial',
    [couponId],
  );

/** All in one batch, whose COMMIT reaches the database and whose reply is lost with the connection. */
async function inALostBatch(couponId: number, options: (user: string) => Call = () => ({})): Promise<Reply[]> {
  const lease = await one.app.get(LockService).acquire(`coupon:issue:${couponId}`);
  const replies = users.map((user) => grab(one.url, couponId, user, options(user)));
  // They, and the turn that waits for all of them.
  while (waiting() < users.length + 1) await new Promise(setImmediate);
  const bitten = proxy.dropReplyTo(commit);
  await lease.release();
  const told = await Promise.all(replies);
  await bitten;
  return told;
}

describe('a batch whose COMMIT succeeded and was not answered', () => {
  it('is unknown to every caller, and never called failed: they are told to come back', async () => {
    const couponId = await createCoupon(one.url);
    for (const { status, headers, json } of await inALostBatch(couponId)) {
      expect([status, json.code, json.retryable]).toEqual([503, 'DATABASE_UNAVAILABLE', true]);
      expect(json.detail).toContain('may have happened');
      expect(headers['retry-after']).toBeDefined();
    }
    expect(await stored(couponId)).toHaveLength(users.length);
  });

  it('gives each of them its own coupon, once, when it comes back: the refusal names it', async () => {
    const couponId = await createCoupon(one.url);
    await inALostBatch(couponId);
    const again = await Promise.all(users.map((user) => grab(one.url, couponId, user)));
    expect(outcomes(again)).toEqual({ '409 COUPON_ALREADY_ISSUED': users.length });
    const rows = await stored(couponId);
    expect(rows).toHaveLength(users.length);
    const named = Object.fromEntries(again.map(({ json }, at) => [users[at], json.userCouponId]));
    expect(named).toEqual(Object.fromEntries(rows.map(({ id, user_id: user }) => [user, id])));
  });

  it('with keys gives each the answer that it was not told: 201, replayed', async () => {
    const couponId = await createCoupon(one.url);
    const keyed = (user: string) => ({ key: `key-of-${user}-${couponId}` });
    expect(outcomes(await inALostBatch(couponId, keyed))).toEqual({ '503 DATABASE_UNAVAILABLE': users.length });
    const again = await Promise.all(users.map((user) => grab(one.url, couponId, user, keyed(user))));
    expect(outcomes(again)).toEqual({ '201': users.length });
    expect(again.every(({ headers }) => headers['idempotency-replayed'] === 'true')).toBe(true);
    const told = again.map(({ json }) => [json.userId, json.userCouponId] as [string, string]);
    const rows = (await stored(couponId)).map(({ id, user_id: user }) => [user, id] as [string, string]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(rows));
    expect(rows).toHaveLength(users.length);
  });
});
