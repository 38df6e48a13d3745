import { StaleFenceError } from '@firstcome/lock';
import { LockService } from '@firstcome/lock/nest';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CriticalSection } from '../../apps/coupon/src/issuance/critical-section.js';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { createCoupon, grab, outcomes } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/servers.js';

let database: TestDatabase;
let instances: [RunningApp, RunningApp];
let redis: Redis;

beforeAll(async () => {
  database = await createTestDatabase();
  redis = new Redis(testRedisUrl());
  const overrides = { COUPON_DATABASE_URL: database.url, ISSUE_STRATEGY: 'pubsub', LOCK_WAIT_MS: '300' };
  instances = [await startCoupon(overrides), await startCoupon(overrides)];
});
afterAll(async () => {
  await Promise.all((instances ?? []).map((instance) => instance.close()));
  redis?.disconnect();
  await database?.drop();
});

const fenceOf = async (couponId: number) => {
  const [row] = await database.query<{ fence: string }>('select fence from coupons where id = $1', [couponId]);
  return Number(row!.fence);
};

describe('issuing under the lock', () => {
  it('reports the wait and the hold, and leaves no lock behind', async () => {
    const couponId = await createCoupon(instances[0].url);
    const { status, headers } = await grab(instances[0].url, couponId, 'ann');
    expect(status).toBe(201);
    expect(headers['server-timing']).toMatch(
      /^lock;dur=(?!0\.0,)[\d.]+, hold;dur=(?!0\.0,)[\d.]+, db;dur=(?!0\.0$)[\d.]+$/,
    );
    expect(await redis.exists(`lock:coupon:issue:${couponId}`)).toBe(0);
  });

  it('writes the fence of its turn to the row, each above the one before', async () => {
    const couponId = await createCoupon(instances[0].url);
    await grab(instances[0].url, couponId, 'ann');
    const first = await fenceOf(couponId);
    await grab(instances[1].url, couponId, 'ben');
    expect(first).toBeGreaterThan(0);
    expect(await fenceOf(couponId)).toBeGreaterThan(first);
  });

  it('is 503 LOCK_TIMEOUT, to be repeated, where the turn does not come in time', async () => {
    const couponId = await createCoupon(instances[0].url);
    const lease = await instances[1].app.get(LockService).acquire(`coupon:issue:${couponId}`);
    const { status, json, headers } = await grab(instances[0].url, couponId, 'ann', { key: 'k' });
    expect([status, json.code, json.retryable]).toEqual([503, 'LOCK_TIMEOUT', true]);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    await lease.release();
    // Contention is not stored under the key.
    expect((await grab(instances[0].url, couponId, 'ann', { key: 'k' })).status).toBe(201);
  });

  it('refuses the late write of a holder that another has overtaken, and issues nothing to it', async () => {
    const couponId = await createCoupon(instances[0].url);
    const stopped = await instances[0].app.get(LockService).acquire(`coupon:issue:${couponId}`);
    const { key, fence, store } = stopped;
    // It does not run while its time is up, as a stopped process; a later holder issues meanwhile.
    await stopped.release();
    expect((await grab(instances[1].url, couponId, 'ben')).status).toBe(201);
    const late = instances[0].app
      .get(CriticalSection)
      .issue(
        { couponId, userId: 'ann', request: { scope: '', fingerprint: '', traceId: 'late' }, deadline: Infinity },
        { strategy: 'pubsub', lease: { key, fence, store, assertHeld: () => undefined } },
      );
    await expect(late).rejects.toBeInstanceOf(StaleFenceError);
    const [row] = await database.query<{ issued: number }>('select issued from coupons where id = $1', [couponId]);
    expect(row?.issued).toBe(1);
  });

  it('raises its counter above a fence that it does not know, and goes on', async () => {
    const couponId = await createCoupon(instances[0].url);
    const ahead = Date.now() * 1000 + 3_600_000_000;
    await database.query('update coupons set fence = $2 where id = $1', [couponId, ahead]);
    expect((await grab(instances[0].url, couponId, 'ann')).status).toBe(201);
    expect(await fenceOf(couponId)).toBeGreaterThan(ahead);
  });

  it('mixes with atomic: 200 grabs of either kind for 50 coupons give out 50', async () => {
    const couponId = await createCoupon(instances[0].url, { total: 50 });
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        grab(instances[index % 2]!.url, couponId, `user-${index}`, {
          headers: { 'x-issue-strategy': index % 4 < 2 ? 'pubsub' : 'atomic' },
        }),
      ),
    );
    expect(outcomes(replies)).toMatchObject({ '201': 50 });
    // Whoever got none was told so for good, or to come back: who waits under one kind is overtaken by the other.
    const refused = replies.filter(({ status }) => status !== 201);
    expect(refused.filter(({ json }) => json.code !== 'COUPON_SOLD_OUT' && !json.retryable)).toEqual([]);
    const serials = await database.query<{ serial: number }>(
      'select serial from user_coupons where coupon_id = $1 order by serial',
      [couponId],
    );
    expect(serials.map(({ serial }) => serial)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });
});
