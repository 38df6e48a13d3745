import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CouponRecoveryJob } from '../../apps/order/src/coupon-recovery.job.js';
import { startCoupon, startOrder } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createCoupon, grab } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { charge, createOptions, order, pay, stockOf, untilFinal } from '../support/orders.js';
import type { OrderCall } from '../support/orders.js';
import { endPrepared, preparedIn } from '../support/prepared.js';
import { privatePostgres } from '../support/private-postgres.js';
import { tokenFor } from '../support/tokens.js';
import { wireTo } from '../support/wire.js';
import type { Wire } from '../support/wire.js';

let couponDatabase: TestDatabase;
let database: TestDatabase;
let coupons: RunningApp;
/** Between `shop` and its database, and between `shop` and the coupon service. */
let toDatabase: Wire;
let toCoupons: Wire;
let shop: RunningApp;
/** Beside it on the same database, with nothing in its way. */
let other: RunningApp;
let option: number;
let users = 0;

beforeAll(async () => {
  couponDatabase = await createTestDatabase();
  database = await createTestDatabase();
  coupons = await startCoupon({ COUPON_DATABASE_URL: couponDatabase.url });
  toDatabase = await wireTo(database.url);
  toCoupons = await wireTo(coupons.url);
  other = await startOrder({ ORDER_DATABASE_URL: database.url, COUPON_URL: coupons.url, COORDINATION: '2pc' });
  shop = await startOrder({ ORDER_DATABASE_URL: toDatabase.url, COUPON_URL: toCoupons.url, COORDINATION: '2pc' });
  [option] = await createOptions(other.url, { price: 100, stock: 1000 });
});
afterAll(async () => {
  await shop?.close();
  await other?.close();
  await coupons?.close();
  await toDatabase?.[Symbol.asyncDispose]();
  await toCoupons?.[Symbol.asyncDispose]();
  for (const each of [database, couponDatabase]) {
    if (each) await endPrepared(each);
    await each?.drop();
  }
});

async function shopper() {
  const user = `two-phase-${(users += 1)}`;
  await charge(other.url, user, 100_000);
  const { json } = await grab(coupons.url, await createCoupon(coupons.url), user);
  return { user, userCouponId: json.userCouponId as string };
}

const orderWith = (base: string, user: string, userCouponId: string, options: OrderCall = {}) => {
  const items = [{ optionId: option, quantity: 2 }];
  return order(base, user, items, { body: { items, userCouponId }, ...options });
};
const couponStatus = async (id: string) =>
  (await couponDatabase.query<{ status: string }>('select status from user_coupons where id = $1', [id]))[0]!.status;
const ordersOf = (user: string) =>
  database.query<{ id: string; status: string }>('select id, status from orders where user_id = $1', [user]);
const everythingPrepared = async () => [...(await preparedIn(database)), ...(await preparedIn(couponDatabase))];

async function expectSoundBooks(): Promise<void> {
  const token = await tokenFor('admin', { role: 'admin' });
  for (const { url } of [other, coupons]) {
    const { json } = await call(url, 'GET', '/v1/lab/invariants', { token });
    expect(json.invariants.filter(({ breaches }: { breaches: number }) => breaches > 0)).toEqual([]);
  }
  expect(await everythingPrepared()).toEqual([]);
}

describe('an order in doubt, both halves prepared and neither committed', () => {
  it('is seen by nobody, keeps its stock and its coupon, and its key is in progress; then all of it is there', async () => {
    const { user, userCouponId } = await shopper();
    const before = await stockOf(database, option);
    const held = toDatabase.hold('request', 'commit prepared');
    const first = orderWith(shop.url, user, userCouponId, { key: 'doubt', pay: true });
    const decision = await held;
    const [half] = await preparedIn(database);
    expect(half).toMatch(/^firstcome-[0-9a-f-]{36}-order$/);
    expect(await preparedIn(couponDatabase)).toEqual([half!.replace('-order', '-coupon')]);
    expect([await ordersOf(user), await stockOf(database, option), await couponStatus(userCouponId)]).toEqual([
      [],
      before,
      'ISSUED',
    ]);
    const copy = await orderWith(other.url, user, userCouponId, { key: 'doubt', pay: true });
    expect([copy.status, copy.json.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    const rival = await orderWith(other.url, user, userCouponId, { key: 'rival' });
    expect([rival.status, rival.json.code, rival.json.retryable]).toEqual([409, 'CONCURRENT_UPDATE', true]);

    decision.letGo();
    const placed = await first;
    expect([placed.status, placed.json.status]).toEqual([201, 'PAID']);
    expect((await orderWith(other.url, user, userCouponId, { key: 'doubt', pay: true })).text).toBe(placed.text);
    expect((await orderWith(other.url, user, userCouponId, { key: 'rival' })).json.code).toBe('COUPON_NOT_USABLE');
    expect([await ordersOf(user), await couponStatus(userCouponId)]).toMatchObject([[{ status: 'PAID' }], 'USED']);
    await expectSoundBooks();
  });

  it('that was rolled back under its hands is answered 503, never 201, and its key is free for one order', async () => {
    const { user, userCouponId } = await shopper();
    const before = await stockOf(database, option);
    const held = toDatabase.hold('request', 'commit prepared');
    const first = orderWith(shop.url, user, userCouponId, { key: 'late' });
    const decision = await held;
    // As the recovery does it, which waits for longer than any transaction has.
    for (const gid of await preparedIn(database)) await database.query(`rollback prepared '${gid}'`);
    decision.letGo();
    const told = await first;
    expect([told.status, told.json.code, told.json.retryable]).toEqual([503, 'DATABASE_UNAVAILABLE', true]);
    expect([await ordersOf(user), await stockOf(database, option)]).toEqual([[], before]);
    const again = await untilFinal(() => orderWith(other.url, user, userCouponId, { key: 'late' }));
    expect(again.status).toBe(201);
    expect(await ordersOf(user)).toHaveLength(1);
    await expectSoundBooks();
  });

  it('whose preparation got no reply is undone before that is answered, and nothing waits for the recovery', async () => {
    const { user, userCouponId } = await shopper();
    const before = await stockOf(database, option);
    toDatabase.loseReplyTo('prepare transaction');
    const told = await orderWith(shop.url, user, userCouponId, { key: 'lost', pay: true });
    expect([told.status, told.json.code]).toEqual([503, 'DATABASE_UNAVAILABLE']);
    expect([await everythingPrepared(), await stockOf(database, option)]).toEqual([[], before]);
    expect((await orderWith(shop.url, user, userCouponId, { key: 'lost', pay: true })).status).toBe(201);
    await expectSoundBooks();
  });

  it('whose decision got no reply is answered 503 unknown, and the same key replays the 201', async () => {
    const { user, userCouponId } = await shopper();
    toDatabase.loseReplyTo('commit prepared');
    const told = await orderWith(shop.url, user, userCouponId, { key: 'unknown', pay: true });
    expect([told.status, told.json.code]).toEqual([503, 'DATABASE_UNAVAILABLE']);
    const again = await untilFinal(() => orderWith(other.url, user, userCouponId, { key: 'unknown', pay: true }));
    expect([again.status, again.headers['idempotency-replayed'], again.json.status]).toEqual([201, 'true', 'PAID']);
    while ((await couponStatus(userCouponId)) !== 'USED') {
      await database.query(`update coupon_uses set due_at = now() where two_phase is not null`);
      await other.app.get(CouponRecoveryJob).run();
    }
    while ((await database.query('select from coupon_uses where two_phase is not null')).length > 0);
    await expectSoundBooks();
  });
});

describe('a coordinator that is slow', () => {
  it('and whose attempt was taken back before its order is told to repeat, and has taken nothing', async () => {
    const { user, userCouponId } = await shopper();
    const held = toCoupons.hold('reply', '/prepare');
    const first = orderWith(shop.url, user, userCouponId, { key: 'slow' });
    const prepared = await held;
    expect(await preparedIn(couponDatabase)).toHaveLength(1);
    while ((await preparedIn(couponDatabase)).length > 0) {
      await database.query(`update coupon_uses set due_at = now() where two_phase is not null`);
      await other.app.get(CouponRecoveryJob).run();
    }
    prepared.letGo();
    const told = await first;
    // Or it had given up on the coupon service before that.
    expect([409, 503]).toContain(told.status);
    expect(told.json.retryable).toBe(true);
    expect([await ordersOf(user), await couponStatus(userCouponId)]).toEqual([[], 'ISSUED']);
    expect((await untilFinal(() => orderWith(shop.url, user, userCouponId, { key: 'slow' }))).status).toBe(201);
    await expectSoundBooks();
  });

  it('does not keep its order from being paid before the coupon service has heard of it', async () => {
    const { user, userCouponId } = await shopper();
    const held = toCoupons.hold('request', '/commit');
    const first = orderWith(shop.url, user, userCouponId);
    const commit = await held;
    const [placed] = await ordersOf(user);
    const paid = await pay(other.url, user, placed!.id);
    expect([paid.status, paid.json.status]).toEqual([201, 'PAID']);
    commit.letGo();
    expect((await first).json).toMatchObject({ orderId: placed!.id, status: 'PENDING_PAYMENT' });
    expect(await couponStatus(userCouponId)).toBe('USED');
    await expectSoundBooks();
  });
});

describe('a PostgreSQL that takes no prepared transactions', () => {
  it('is told at start, with advice, where it is the order’s; where it is the coupon’s, orders with a coupon are 503', async () => {
    await using server = await privatePostgres({ max_prepared_transactions: '0' });
    const start = startOrder({ ORDER_DATABASE_URL: await server.database('shop'), COORDINATION: '2pc' });
    await expect(start).rejects.toThrow(/COORDINATION is 2pc[^]*set max_prepared_transactions/);

    await using unable = await startCoupon({ COUPON_DATABASE_URL: await server.database('coupon') });
    await using alone = await startOrder({
      ORDER_DATABASE_URL: database.url,
      COUPON_URL: unable.url,
      COORDINATION: '2pc',
    });
    const user = `two-phase-${(users += 1)}`;
    const { json } = await grab(unable.url, await createCoupon(unable.url), user);
    const told = await orderWith(alone.url, user, json.userCouponId as string, { key: 'unable' });
    expect([told.status, told.json.code, told.json.retryable]).toEqual([503, 'UPSTREAM_UNAVAILABLE', true]);
    expect((await order(alone.url, user, [{ optionId: option, quantity: 1 }])).status).toBe(201);
    expect(await database.query('select from coupon_uses where two_phase is not null')).toEqual([]);
  });
});
