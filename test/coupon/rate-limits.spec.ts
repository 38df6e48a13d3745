import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { createCoupon, grab, outcomes } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';

let database: TestDatabase;
const started: RunningApp[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  for (const app of started) await app.close();
  await database?.drop();
});

/** Two instances with one limit: what one lets through, the other counts. */
async function limited(limit: Record<string, string>): Promise<[string, string]> {
  const overrides = { COUPON_DATABASE_URL: database.url, TRUST_PROXY: 'loopback', ...limit };
  const pair = [await startCoupon(overrides), await startCoupon(overrides)] as const;
  started.push(...pair);
  return [pair[0].url, pair[1].url];
}

/** The addresses and users of a spec are its own: Redis outlives it, and its limits are per minute. */
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const anAddress = () => `2001:db8::${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}`;

describe('the limits of the grab, over all instances', () => {
  it('per user: the third of two is 429, another user is let through', async () => {
    const [one, other] = await limited({ RATE_LIMIT_USER: '2' });
    const couponId = await createCoupon(one);
    const user = randomUUID();
    const replies = [
      await grab(one, couponId, user),
      await grab(other, couponId, user),
      await grab(one, couponId, user),
    ];
    expect(outcomes(replies)).toEqual({ '201': 1, '409 COUPON_ALREADY_ISSUED': 1, '429 RATE_LIMITED': 1 });
    expect((await grab(other, couponId, randomUUID())).status).toBe(201);
  });

  it('per address: as the trusted proxy names it', async () => {
    const [one, other] = await limited({ RATE_LIMIT_ADDRESS: '2' });
    const couponId = await createCoupon(one);
    const address = anAddress();
    const replies = [
      await grab(one, couponId, randomUUID(), from(address)),
      await grab(other, couponId, randomUUID(), from(address)),
      await grab(one, couponId, randomUUID(), from(address)),
      await grab(one, couponId, randomUUID(), from(anAddress())),
    ];
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 429, 201]);
  });

  it('per coupon: everybody together, and no other coupon', async () => {
    const [one, other] = await limited({ RATE_LIMIT_COUPON: '2' });
    // The ids of a new database begin at 1, and Redis may remember another spec's coupon of that id.
    await database.query(`select setval(pg_get_serial_sequence('coupons', 'id'), $1)`, [Date.now()]);
    const [couponId, another] = [await createCoupon(one), await createCoupon(one)];
    const replies = [
      await grab(one, couponId, randomUUID()),
      await grab(other, couponId, randomUUID()),
      await grab(other, couponId, randomUUID()),
      await grab(other, another, randomUUID()),
    ];
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 429, 201]);
  });
});
