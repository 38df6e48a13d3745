import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createCoupon, grab, outcomes } from '../support/coupons.js';
import type { NewCoupon } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { serviceToken, tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let coupon: RunningApp;
let orders = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  coupon = await startCoupon({ COUPON_DATABASE_URL: database.url });
});
afterAll(async () => {
  await coupon?.close();
  await database?.drop();
});

const anOrder = () => `01980000-0000-7000-8000-${String((orders += 1)).padStart(12, '0')}`;

async function aUserCoupon(rules: NewCoupon = {}): Promise<string> {
  const { json } = await grab(coupon.url, await createCoupon(coupon.url, rules), 'ann');
  return json.userCouponId as string;
}

const step = (name: 'reserve' | 'confirm' | 'release') => (id: string, body: object) =>
  call(coupon.url, 'POST', `/internal/v1/user-coupons/${id}/${name}`, { token: serviceToken, body });
const [reserve, confirm, release] = [step('reserve'), step('confirm'), step('release')];
const by = (orderId: string, subtotal = 1000, userId = 'ann') => ({ orderId, userId, subtotal });

async function statusOf(id: string): Promise<string> {
  const [row] = await database.query<{ status: string }>('select status from user_coupons where id = $1', [id]);
  return row!.status;
}

describe('a user coupon, as the order service uses it', () => {
  it('is reserved, confirmed and given back, and each step answers its repetition alike', async () => {
    const [id, orderId] = [await aUserCoupon({ discount: { type: 'PERCENT', value: 15 } }), anOrder()];
    const reserved = await reserve(id, by(orderId, 999));
    expect([reserved.status, reserved.json.status, reserved.json.discount]).toEqual([200, 'RESERVED', 149]);
    expect((await reserve(id, by(orderId, 999))).text).toBe(reserved.text);
    const used = await confirm(id, { orderId });
    expect([used.status, used.json.status, used.json.discount]).toEqual([200, 'USED', 149]);
    expect((await confirm(id, { orderId })).text).toBe(used.text);
    const released = await release(id, { orderId });
    expect([released.status, released.json.status]).toEqual([200, 'ISSUED']);
    expect((await release(id, { orderId })).text).toBe(released.text);
    expect((await reserve(id, by(anOrder()))).status).toBe(200);
  });

  it('tells a repeated release what it is by now: revoked, past its day, with another order', async () => {
    const [id, orderId] = [await aUserCoupon({ validDays: 1 }), anOrder()];
    await reserve(id, by(orderId));
    expect((await release(id, { orderId })).json.status).toBe('ISSUED');
    const next = anOrder();
    await reserve(id, by(next));
    expect((await release(id, { orderId })).json.status).toBe('RESERVED');
    await database.query(
      `update user_coupons set issued_at = now() - interval '2 days', expires_at = now() - interval '1 day' where id = $1`,
      [id],
    );
    expect((await release(id, { orderId: next })).json.status).toBe('EXPIRED');
    expect((await release(id, { orderId: next })).json.status).toBe('EXPIRED');

    const revoked = await aUserCoupon();
    await reserve(revoked, by(orderId));
    await release(revoked, { orderId });
    const token = await tokenFor('admin', { role: 'admin' });
    await call(coupon.url, 'POST', `/v1/admin/user-coupons/${revoked}/revocations`, { token });
    expect((await release(revoked, { orderId })).json).toMatchObject({ status: 'REVOKED', discount: 0 });
    expect(await statusOf(revoked)).toBe('REVOKED');
  });

  it('serves one of 20 orders that want it at once', async () => {
    const id = await aUserCoupon();
    const replies = await Promise.all(Array.from({ length: 20 }, () => reserve(id, by(anOrder()))));
    expect(outcomes(replies)).toEqual({ '200': 1, '409 COUPON_NOT_USABLE': 19 });
  });

  it('is not taken by a reservation that arrives after its release', async () => {
    const [id, orderId] = [await aUserCoupon(), anOrder()];
    expect((await release(id, { orderId })).status).toBe(200);
    expect((await reserve(id, by(orderId))).json.code).toBe('COUPON_NOT_USABLE');
    expect(await statusOf(id)).toBe('ISSUED');
  });

  it('is given back only by the order that has it', async () => {
    const [id, orderId] = [await aUserCoupon(), anOrder()];
    await reserve(id, by(orderId));
    await release(id, { orderId: anOrder() });
    expect(await statusOf(id)).toBe('RESERVED');
    expect((await confirm(id, { orderId: anOrder() })).json.code).toBe('COUPON_NOT_USABLE');
  });

  it('of somebody else is 404, as an absent one', async () => {
    const told = async (id: string, userId: string) => {
      const { status, json } = await reserve(id, by(anOrder(), 1000, userId));
      return [status, json.code];
    };
    expect(await told(await aUserCoupon(), 'ben')).toEqual([404, 'USER_COUPON_NOT_FOUND']);
    expect(await told('01980000-0000-7000-8000-000000000000', 'ann')).toEqual([404, 'USER_COUPON_NOT_FOUND']);
  });

  it('past its day cannot be reserved, and one reserved before can still be confirmed', async () => {
    const [late, held] = [await aUserCoupon({ validDays: 1 }), await aUserCoupon({ validDays: 1 })];
    const orderId = anOrder();
    await reserve(held, by(orderId));
    await database.query(
      `update user_coupons set issued_at = now() - interval '2 days', expires_at = now() - interval '1 day' where id = any($1)`,
      [[late, held]],
    );
    expect((await reserve(late, by(anOrder()))).json.code).toBe('COUPON_NOT_USABLE');
    expect((await confirm(held, { orderId })).json.status).toBe('USED');
  });

  it('below its minimum order is 422', async () => {
    const id = await aUserCoupon({ minOrder: 500 });
    expect((await reserve(id, by(anOrder(), 499))).json.code).toBe('MIN_ORDER_NOT_MET');
    expect((await reserve(id, by(anOrder(), 500))).status).toBe(200);
  });

  it('leaves the books right: every invariant still holds after all of this', async () => {
    const token = await tokenFor('admin', { role: 'admin' });
    const { json } = await call(coupon.url, 'GET', '/v1/lab/invariants', { token });
    expect(json.invariants.filter(({ breaches }: { breaches: number }) => breaches > 0)).toEqual([]);
  });
});
