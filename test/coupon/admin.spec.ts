import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createCoupon, grab, outcomes } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { serviceToken, tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let one: RunningApp;
let other: RunningApp;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase();
  one = await startCoupon({ COUPON_DATABASE_URL: database.url });
  other = await startCoupon({ COUPON_DATABASE_URL: database.url });
  token = await tokenFor('admin', { role: 'admin' });
});
afterAll(async () => {
  await one?.close();
  await other?.close();
  await database?.drop();
});

const absent = '01980000-0000-7000-8000-000000000000';
const change = (id: number, body: object) => call(one.url, 'PATCH', `/v1/admin/coupons/${id}`, { token, body });
const post = (path: string) => call(one.url, 'POST', `/v1/admin/${path}`, { token });
const told = ({ status, json }: { status: number; json: { code?: string } }) => [status, json.code];

describe('PATCH /v1/admin/coupons/{id}', () => {
  it('changes what is sent, leaves the rest, and answers what every instance shows', async () => {
    const id = await createCoupon(one.url, { endsAt: '2999-01-01T00:00:00Z' });
    const changed = await change(id, { name: 'Twenty off', total: 7 });
    expect(changed.status).toBe(200);
    expect(changed.json).toMatchObject({ id, name: 'Twenty off', total: 7, endsAt: '2999-01-01T00:00:00.000Z' });
    expect((await call(other.url, 'GET', `/v1/coupons/${id}`)).text).toBe(changed.text);
    expect((await change(id, { endsAt: null })).json.endsAt).toBeNull();
    expect((await change(id, {})).json).toMatchObject({ name: 'Twenty off', total: 7, endsAt: null });
  });

  it('opens a sold-out coupon again on every instance, at once', async () => {
    const id = await createCoupon(one.url, { total: 1 });
    await grab(one.url, id, 'ann');
    const told = async () => outcomes([await grab(one.url, id, 'ben'), await grab(other.url, id, 'eve')]);
    expect(await told()).toEqual({ '409 COUPON_SOLD_OUT': 2 });
    await change(id, { total: 3 });
    expect(await told()).toEqual({ '201': 2 });
    expect((await call(one.url, 'GET', `/v1/coupons/${id}`)).json).toMatchObject({ remaining: 0, status: 'SOLD_OUT' });
  });

  it('refuses a total below what is issued, an end before the start, and a coupon that is not there', async () => {
    const id = await createCoupon(one.url, { startsAt: '2020-01-01T00:00:00Z' });
    await grab(one.url, id, 'ann');
    await grab(one.url, id, 'ben');
    expect(told(await change(id, { total: 1 }))).toEqual([409, 'COUPON_TOTAL_BELOW_ISSUED']);
    expect((await change(id, { total: 2 })).json.remaining).toBe(0);
    const window = await change(id, { endsAt: '2019-01-01T00:00:00Z' });
    expect([...told(window), window.json.errors[0].pointer]).toEqual([422, 'COUPON_RULES_INVALID', '/endsAt']);
    expect(told(await change(999_999_999, { total: 1 }))).toEqual([404, 'COUPON_NOT_FOUND']);
  });
});

describe('pause and resume', () => {
  it('stop and start the issue on every instance; done twice they say the same', async () => {
    const id = await createCoupon(one.url);
    const paused = await post(`coupons/${id}/pause`);
    expect([paused.status, paused.json.status]).toEqual([200, 'PAUSED']);
    expect((await post(`coupons/${id}/pause`)).text).toBe(paused.text);
    expect(told(await grab(other.url, id, 'ann'))).toEqual([409, 'COUPON_PAUSED']);
    expect((await post(`coupons/${id}/resume`)).json.status).toBe('ISSUABLE');
    expect((await post(`coupons/${id}/resume`)).json.status).toBe('ISSUABLE');
    expect((await grab(other.url, id, 'ann')).json.serial).toBe(1);
    expect(told(await post('coupons/999999999/pause'))).toEqual([404, 'COUPON_NOT_FOUND']);
    expect(told(await post('coupons/999999999/resume'))).toEqual([404, 'COUPON_NOT_FOUND']);
  });
});

describe('a revocation', () => {
  const orderOf = (id: string, name: string) =>
    call(one.url, 'POST', `/internal/v1/user-coupons/${id}/${name}`, {
      token: serviceToken,
      body: { orderId: absent, ...(name === 'reserve' ? { userId: 'ann', subtotal: 1000 } : {}) },
    });

  it('is for good: not usable, not had again, and its place goes to nobody', async () => {
    const couponId = await createCoupon(one.url, { total: 1 });
    const id: string = (await grab(one.url, couponId, 'ann')).json.userCouponId;
    const revoked = await post(`user-coupons/${id}/revocations`);
    expect([revoked.status, revoked.json]).toEqual([
      200,
      expect.objectContaining({ userCouponId: id, couponId, userId: 'ann', serial: 1, status: 'REVOKED' }),
    ]);
    expect((await post(`user-coupons/${id}/revocations`)).text).toBe(revoked.text);
    expect(told(await orderOf(id, 'reserve'))).toEqual([409, 'COUPON_NOT_USABLE']);
    expect(told(await grab(one.url, couponId, 'ann'))).toEqual([409, 'COUPON_ALREADY_ISSUED']);
    expect(told(await grab(one.url, couponId, 'ben'))).toEqual([409, 'COUPON_SOLD_OUT']);
    const ann = await tokenFor('ann');
    const mine = await call(other.url, 'GET', '/v1/me/coupons?status=REVOKED', { token: ann });
    expect(mine.json.items).toEqual([revoked.json]);
  });

  it('of one that an order has, or that has expired, is refused; of one that is not there, 404', async () => {
    const couponId = await createCoupon(one.url, { validDays: 1 });
    const id: string = (await grab(one.url, couponId, 'ann')).json.userCouponId;
    const refused = [409, 'USER_COUPON_NOT_REVOCABLE'];
    await orderOf(id, 'reserve');
    expect(told(await post(`user-coupons/${id}/revocations`))).toEqual(refused);
    await orderOf(id, 'confirm');
    expect(told(await post(`user-coupons/${id}/revocations`))).toEqual(refused);
    await orderOf(id, 'release');
    await database.query(
      `update user_coupons set issued_at = now() - interval '2 days', expires_at = now() - interval '1 day' where id = $1`,
      [id],
    );
    expect(told(await post(`user-coupons/${id}/revocations`))).toEqual(refused);
    expect(told(await post(`user-coupons/${absent}/revocations`))).toEqual([404, 'USER_COUPON_NOT_FOUND']);
  });

  it('and a reservation at the same time: exactly one of them has it', async () => {
    for (let round = 0; round < 20; round++) {
      const couponId = await createCoupon(one.url);
      const id: string = (await grab(one.url, couponId, 'ann')).json.userCouponId;
      const [revoked, reserved] = await Promise.all([post(`user-coupons/${id}/revocations`), orderOf(id, 'reserve')]);
      expect([revoked.status, reserved.status].toSorted((a, b) => a - b)).toEqual([200, 409]);
    }
  });
});
