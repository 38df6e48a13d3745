import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createCoupon, grab, untilWaiting } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let lab: RunningApp;
let shop: RunningApp;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase();
  lab = await startCoupon({ COUPON_DATABASE_URL: database.url });
  shop = await startCoupon({ COUPON_DATABASE_URL: database.url, LAB: '0' });
  token = await tokenFor('admin', { role: 'admin' });
});
afterAll(async () => {
  await lab?.close();
  await shop?.close();
  await database?.drop();
});

const reset = (body: object) => call(lab.url, 'POST', '/v1/lab/reset', { token, body });

describe('the lab', () => {
  it('makes a fresh coupon, or empties the one that is named, with its stored answers', async () => {
    const fresh = await reset({ total: 2 });
    expect([fresh.status, fresh.json.total, fresh.json.issued]).toEqual([200, 2, 0]);
    const couponId = fresh.json.id as number;
    await grab(lab.url, couponId, 'ann', { key: 'k' });
    await grab(lab.url, couponId, 'ben');
    expect((await grab(lab.url, couponId, 'eve', { key: 'k' })).json.code).toBe('COUPON_SOLD_OUT');

    const emptied = await reset({ couponId, total: 1 });
    expect(emptied.json).toMatchObject({ id: couponId, total: 1, issued: 0, status: 'ISSUABLE' });
    expect((await grab(lab.url, couponId, 'eve', { key: 'k' })).json).toMatchObject({ serial: 1, userId: 'eve' });
    const { json } = await call(lab.url, 'GET', '/v1/lab/invariants', { token });
    expect(json.ok).toBe(true);
  });

  it('has no coupon to empty: 404', async () => {
    expect((await reset({ couponId: 999_999_999, total: 1 })).json.code).toBe('COUPON_NOT_FOUND');
  });

  it('shows who holds a lock and how many wait for it', async () => {
    const couponId = await createCoupon(lab.url);
    const row = await database.hold('select from coupons where id = $1 for update', [couponId]);
    const grabs = ['ann', 'ben', 'eve'].map((user) =>
      grab(lab.url, couponId, user, { headers: { 'x-issue-strategy': 'pubsub' } }),
    );
    // One of them has the lock and waits for the row; the others wait for the lock.
    await untilWaiting(lab.url, 2);
    const { json } = await call(lab.url, 'GET', '/v1/lab/locks', { token });
    expect(json.items).toEqual([
      expect.objectContaining({ key: `coupon:issue:${couponId}`, held: true, waitersHere: 2, queued: 0 }),
    ]);
    await row.letGo();
    await Promise.all(grabs);
    expect((await call(lab.url, 'GET', '/v1/lab/locks', { token })).json.items).toEqual([]);
  });

  it('is not there with LAB=0, not even for an administrator, and its header is ignored', async () => {
    for (const [method, path] of [
      ['POST', '/v1/lab/reset'],
      ['GET', '/v1/lab/invariants'],
      ['GET', '/v1/lab/locks'],
    ] as const) {
      const { status, json } = await call(shop.url, method, path, { token });
      expect([path, status, json.code]).toEqual([path, 404, 'ROUTE_NOT_FOUND']);
    }
    const headers = { 'x-issue-strategy': 'luck' };
    expect((await grab(shop.url, await createCoupon(shop.url), 'ann', { headers })).status).toBe(201);
    expect((await grab(lab.url, await createCoupon(lab.url), 'ann', { headers })).json.code).toBe('STRATEGY_UNKNOWN');
  });
});
