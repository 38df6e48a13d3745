import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { coordinationNames } from '../../apps/order/src/coordination/strategy.js';
import { ClosingService } from '../../apps/order/src/closing.service.js';
import { CouponRecoveryJob } from '../../apps/order/src/coupon-recovery.job.js';
import { startCoupon, startOrder } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { barrier } from '../support/barrier.js';
import { call } from '../support/client.js';
import { createCoupon, grab, outcomes } from '../support/coupons.js';
import type { NewCoupon } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import {
  absentOrderId,
  cancel,
  charge,
  createOptions,
  freshKey,
  order,
  pay,
  refund,
  stockOf,
  untilFinal,
} from '../support/orders.js';
import type { OrderCall } from '../support/orders.js';
import { preparedIn } from '../support/prepared.js';
import { serviceToken, tokenFor } from '../support/tokens.js';

// One suite for both ways of coordination: what a user sees of them is the same.
describe.each(coordinationNames)('COORDINATION=%s', (coordination) => {
  let couponDatabase: TestDatabase;
  let database: TestDatabase;
  let coupons: RunningApp;
  let shop: RunningApp;
  let other: RunningApp;
  let option: number;

  beforeAll(async () => {
    couponDatabase = await createTestDatabase();
    database = await createTestDatabase();
    coupons = await startCoupon({ COUPON_DATABASE_URL: couponDatabase.url });
    const overrides = { ORDER_DATABASE_URL: database.url, COUPON_URL: coupons.url, COORDINATION: coordination };
    [shop, other] = [await startOrder(overrides), await startOrder(overrides)];
  });
  afterAll(async () => {
    await shop?.close();
    await other?.close();
    await coupons?.close();
    await couponDatabase?.drop();
    await database?.drop();
  });
  beforeEach(async () => {
    [option] = await createOptions(shop.url, { price: 100, stock: 100 });
  });

  let users = 0;
  /** A user with points and a coupon of their own. */
  async function shopper(coupon: NewCoupon = {}) {
    users += 1;
    const user = `shopper-${users}`;
    await charge(shop.url, user, 100_000);
    const couponId = await createCoupon(coupons.url, coupon);
    const { json } = await grab(coupons.url, couponId, user);
    return { user, userCouponId: json.userCouponId as string };
  }

  interface CouponOrder extends OrderCall {
    quantity?: number;
    expectedTotal?: number;
    base?: string;
  }
  const orderWith = (
    user: string,
    userCouponId: string,
    { quantity = 3, expectedTotal, base, ...rest }: CouponOrder = {},
  ) => {
    const items = [{ optionId: option, quantity }];
    return order(base ?? shop.url, user, items, { body: { items, userCouponId, expectedTotal }, ...rest });
  };
  const couponStatus = async (userCouponId: string) =>
    (await couponDatabase.query<{ status: string }>('select status from user_coupons where id = $1', [userCouponId]))[0]
      ?.status;
  const eventsOf = async (user: string, orderId: string) =>
    (await call(other.url, 'GET', `/v1/orders/${orderId}/events`, { token: await tokenFor(user) })).json.map(
      ({ type }: { type: string }) => type,
    );

  async function expectSoundBooks(): Promise<void> {
    const token = await tokenFor('admin', { role: 'admin' });
    for (const { url } of [shop, coupons]) {
      const { json } = await call(url, 'GET', '/v1/lab/invariants', { token });
      expect(json.invariants.filter(({ breaches }: { breaches: number }) => breaches > 0)).toEqual([]);
    }
    expect([...(await preparedIn(database)), ...(await preparedIn(couponDatabase))]).toEqual([]);
  }

  describe('an order with a coupon', () => {
    it.each<[string, NewCoupon, number, number]>([
      ['FIXED', { discount: { type: 'FIXED', value: 250 } }, 3, 250],
      ['FIXED, never above the subtotal', { discount: { type: 'FIXED', value: 5000 } }, 3, 300],
      ['PERCENT', { discount: { type: 'PERCENT', value: 33 } }, 3, 99],
      ['PERCENT with a cap', { discount: { type: 'PERCENT', value: 50, maxDiscount: 120 } }, 3, 120],
      ['of a minimum order that is just met', { minOrder: 300 }, 3, 10],
    ])('is cheaper: %s', async (_, coupon, quantity, discount) => {
      const { user, userCouponId } = await shopper(coupon);
      const placed = await orderWith(user, userCouponId, { quantity });
      expect([placed.status, placed.json]).toMatchObject([
        201,
        { status: 'PENDING_PAYMENT', subtotal: 300, discount, total: 300 - discount, userCouponId },
      ]);
      expect(await couponStatus(userCouponId)).toBe('RESERVED');
      const paid = await pay(other.url, user, placed.json.orderId);
      expect([paid.status, paid.json.status]).toEqual([201, 'PAID']);
      expect(await couponStatus(userCouponId)).toBe('USED');
      expect(await eventsOf(user, placed.json.orderId)).toEqual([
        'OrderCreated',
        'StockReserved',
        'CouponReserved',
        'PointsSpent',
        'OrderPaid',
        'CouponConfirmed',
      ]);
      const { json } = await call(shop.url, 'GET', '/v1/me/points', { token: await tokenFor(user) });
      expect(json.balance).toBe(100_000 - 300 + discount);
      await expectSoundBooks();
    });

    it('is ordered and paid in one answer, which a repeated request gets again', async () => {
      const { user, userCouponId } = await shopper();
      const first = await orderWith(user, userCouponId, { pay: true, key: 'once', expectedTotal: 290 });
      expect([first.status, first.json.status, first.json.total]).toEqual([201, 'PAID', 290]);
      expect(await couponStatus(userCouponId)).toBe('USED');
      const again = await orderWith(user, userCouponId, {
        pay: true,
        key: 'once',
        expectedTotal: 290,
        base: other.url,
      });
      expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text, 'true']);
      await expectSoundBooks();
    });

    it.each(['cancelled', 'expired', 'refunded'])(
      'gives the coupon back when it is %s, and it serves another order',
      async (how) => {
        const { user, userCouponId } = await shopper();
        const { json: placed } = await orderWith(user, userCouponId, { pay: how === 'refunded' });
        if (how === 'cancelled') await cancel(shop.url, user, placed.orderId);
        if (how === 'refunded') await refund(shop.url, user, placed.orderId);
        if (how === 'expired') {
          await database.query(
            `update orders set created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour' where id = $1`,
            [placed.orderId],
          );
          await shop.app.get(ClosingService).expire(placed.orderId);
        }
        while ((await couponStatus(userCouponId)) !== 'ISSUED');
        expect((await untilFinal(() => orderWith(user, userCouponId))).status).toBe(201);
        expect((await eventsOf(user, placed.orderId)).filter((type: string) => type === 'CouponReleased')).toHaveLength(
          1,
        );
        await expectSoundBooks();
      },
    );
  });

  describe('a coupon that cannot be used', () => {
    it('is COUPON_NOT_USABLE alike, absent, foreign, used or in another order, and nothing is reserved', async () => {
      const { user, userCouponId } = await shopper();
      const inUse = await shopper();
      expect((await orderWith(inUse.user, inUse.userCouponId)).status).toBe(201);
      const before = await stockOf(database, option);
      const refused = [
        await orderWith(user, absentOrderId),
        await orderWith('stranger', userCouponId),
        await orderWith(inUse.user, inUse.userCouponId, { key: 'second' }),
      ];
      for (const { status, json } of refused) {
        expect([status, json.code, json.detail]).toEqual([409, 'COUPON_NOT_USABLE', refused[0]!.json.detail]);
      }
      expect(await stockOf(database, option)).toEqual(before);
      const replayed = await orderWith(inUse.user, inUse.userCouponId, { key: 'second' });
      expect([replayed.text, replayed.headers['idempotency-replayed']]).toEqual([refused[2]!.text, 'true']);
      await expectSoundBooks();
    });

    it('below its minimum order is MIN_ORDER_NOT_MET, and serves a larger order', async () => {
      const { user, userCouponId } = await shopper({ minOrder: 301 });
      const refused = await orderWith(user, userCouponId);
      expect([refused.status, refused.json.code]).toEqual([422, 'MIN_ORDER_NOT_MET']);
      expect((await orderWith(user, userCouponId, { quantity: 4 })).status).toBe(201);
    });

    it.each<[string, CouponOrder, string]>([
      ['no stock', { quantity: 101 }, 'OUT_OF_STOCK'],
      ['another price', { expectedTotal: 1 }, 'PRICE_CHANGED'],
      ['too few points', { quantity: 100, pay: true }, 'INSUFFICIENT_POINTS'],
    ])('is given back where %s lets no order come to be', async (_, wanted, code) => {
      const { user, userCouponId } = await shopper();
      await database.query(`update wallets set balance = 0 where user_id = $1`, [user]);
      await database.query(`delete from points_ledger where user_id = $1`, [user]);
      const refused = await orderWith(user, userCouponId, wanted);
      expect([refused.status, refused.json.code]).toEqual([409, code]);
      expect(await couponStatus(userCouponId)).toBe('ISSUED');
      expect((await orderWith(user, userCouponId)).status).toBe(201);
    });
  });

  describe('20 orders with one coupon at once', () => {
    const crowd = async (request: (at: number) => Promise<Awaited<ReturnType<typeof order>>>) => {
      const everybodyIsHere = barrier(20);
      return Promise.all(
        Array.from({ length: 20 }, async (_, at) => {
          await everybodyIsHere();
          return untilFinal(() => request(at));
        }),
      );
    };

    it('under 20 keys: one has it, the others are refused', async () => {
      const { user, userCouponId } = await shopper();
      const keys = Array.from({ length: 20 }, freshKey);
      const replies = await crowd((at) =>
        orderWith(user, userCouponId, { key: keys[at], base: (at % 2 ? shop : other).url }),
      );
      expect(outcomes(replies)).toEqual({ '201': 1, '409 COUPON_NOT_USABLE': 19 });
      await expectSoundBooks();
    });

    it('under one key: one order, and the same answer for all', async () => {
      const { user, userCouponId } = await shopper();
      const replies = await crowd((at) =>
        orderWith(user, userCouponId, { key: 'one', pay: true, base: (at % 2 ? shop : other).url }),
      );
      expect(outcomes(replies)).toEqual({ '201': 20 });
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
      await expectSoundBooks();
    });
  });

  describe('the coupon service away', () => {
    it('is UPSTREAM_UNAVAILABLE for an order with a coupon, and nothing for one without', async () => {
      await using alone = await startOrder({
        ORDER_DATABASE_URL: database.url,
        COUPON_URL: 'http://127.0.0.1:9',
        COORDINATION: coordination,
      });
      const { user, userCouponId } = await shopper();
      const refused = await orderWith(user, userCouponId, { key: 'away', base: alone.url });
      expect([refused.status, refused.json.code, refused.json.retryable]).toEqual([503, 'UPSTREAM_UNAVAILABLE', true]);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      const items = [{ optionId: option, quantity: 1 }];
      expect((await order(alone.url, user, items)).status).toBe(201);
      // The same key is free for the repetition that reaches a service which is there.
      expect((await untilFinal(() => orderWith(user, userCouponId, { key: 'away' }))).status).toBe(201);
    });

    it('delays the confirmation, not the payment: the recovery brings it when the service is back', async () => {
      const { user, userCouponId } = await shopper();
      const { json: placed } = await orderWith(user, userCouponId);
      await using alone = await startOrder({
        ORDER_DATABASE_URL: database.url,
        COUPON_URL: 'http://127.0.0.1:9',
        COORDINATION: coordination,
      });
      expect((await pay(alone.url, user, placed.orderId)).json.status).toBe('PAID');
      await alone.close();
      while ((await couponStatus(userCouponId)) !== 'USED') {
        await database.query('update coupon_uses set due_at = now() where order_id = $1', [placed.orderId]);
        await shop.app.get(CouponRecoveryJob).run();
      }
      while (!(await eventsOf(user, placed.orderId)).includes('CouponConfirmed'));
      await expectSoundBooks();
    });
  });

  describe('a process that dies', () => {
    it('between the reservation and its order leaves a row, by which the coupon is given back', async () => {
      const { user, userCouponId } = await shopper();
      // What it had done by then: the row, and the reservation.
      await database.query(
        `insert into coupon_uses (order_id, user_coupon_id, user_id, request_id, state, due_at)
       values ($1, $2, $3, sha256('x'), 'RESERVING', now())`,
        [absentOrderId, userCouponId, user],
      );
      const body = { orderId: absentOrderId, userId: user, subtotal: 300 };
      await call(coupons.url, 'POST', `/internal/v1/user-coupons/${userCouponId}/reserve`, {
        token: serviceToken,
        body,
      });
      while ((await couponStatus(userCouponId)) !== 'ISSUED') await shop.app.get(CouponRecoveryJob).run();
      expect((await untilFinal(() => orderWith(user, userCouponId))).status).toBe(201);
      await expectSoundBooks();
    });

    it('before it could ask for the reservation: one that arrives late takes nothing', async () => {
      const { user, userCouponId } = await shopper();
      const late = '01890a5d-ac96-774b-bcce-b302099a8058';
      await database.query(
        `insert into coupon_uses (order_id, user_coupon_id, user_id, request_id, state, due_at)
       values ($1, $2, $3, sha256('x'), 'RESERVING', now())`,
        [late, userCouponId, user],
      );
      const stateOf = async () =>
        (await database.query<{ state: string }>('select state from coupon_uses where order_id = $1', [late]))[0]!
          .state;
      while ((await stateOf()) !== 'RELEASED') await shop.app.get(CouponRecoveryJob).run();
      const body = { orderId: late, userId: user, subtotal: 300 };
      const reply = await call(coupons.url, 'POST', `/internal/v1/user-coupons/${userCouponId}/reserve`, {
        token: serviceToken,
        body,
      });
      expect([reply.status, reply.json.code]).toEqual([409, 'COUPON_NOT_USABLE']);
      expect(await couponStatus(userCouponId)).toBe('ISSUED');
    });
  });
});
