import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CouponRecoveryJob } from '../../apps/order/src/coupon-recovery.job.js';
import type { CoordinationName } from '../../apps/order/src/coordination/strategy.js';
import { startOrder } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { build, startBuilt } from '../support/built.js';
import { call } from '../support/client.js';
import { createCoupon, grab } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { charge, createOptions, order, stockOf, untilFinal } from '../support/orders.js';
import { endPrepared, preparedIn } from '../support/prepared.js';
import { tokenFor } from '../support/tokens.js';
import { wireTo } from '../support/wire.js';

// FAULTS.md: a coordinator killed after each step, of a saga and of a 2PC. Each process is a real one, killed with SIGKILL at a point
// where a wire of ours keeps a message back; the recovery is that of an instance that has seen nothing of it.

let couponDatabase: TestDatabase;
let database: TestDatabase;
let coupons: Awaited<ReturnType<typeof startBuilt>>;
let survivor: RunningApp;
let option: number;
let users = 0;

beforeAll(async () => {
  await build();
  couponDatabase = await createTestDatabase();
  database = await createTestDatabase();
  coupons = await startBuilt('coupon', { COUPON_DATABASE_URL: couponDatabase.url });
  // It takes the other way for its own orders, which changes nothing about what it finds.
  survivor = await startOrder({ ORDER_DATABASE_URL: database.url, COUPON_URL: coupons.url!, COORDINATION: 'saga' });
  [option] = await createOptions(survivor.url, { price: 100, stock: 100 });
}, 300_000);
afterAll(async () => {
  await survivor?.close();
  await coupons?.stop();
  for (const each of [database, couponDatabase]) {
    if (each) await endPrepared(each);
    await each?.drop();
  }
});

async function shopper() {
  const user = `killed-${(users += 1)}`;
  await charge(survivor.url, user, 1000);
  const { json } = await grab(coupons.url!, await createCoupon(coupons.url!), user);
  return { user, userCouponId: json.userCouponId as string };
}
const orderWith = (base: string, user: string, userCouponId: string) => {
  const items = [{ optionId: option, quantity: 2 }];
  return order(base, user, items, { body: { items, userCouponId }, key: 'once', pay: true });
};
const couponStatus = async (id: string) =>
  (await couponDatabase.query<{ status: string }>('select status from user_coupons where id = $1', [id]))[0]!.status;
const ordersOf = (user: string) =>
  database.query<{ status: string }>('select status from orders where user_id = $1', [user]);
const openUses = () =>
  database.query(
    `select from coupon_uses where two_phase is not null or state in ('RESERVING', 'CONFIRMING', 'RELEASING')`,
  );
const prepared = async () => [...(await preparedIn(database)), ...(await preparedIn(couponDatabase))];

/** Until the recovery has nothing left to do. What it would wait for is due at once, but for what is locked in doubt. */
async function recovered(): Promise<void> {
  while ((await prepared()).length > 0 || (await openUses()).length > 0) {
    await database.query(
      `update coupon_uses set due_at = now()
        where order_id in (select order_id from coupon_uses where due_at > now() for update skip locked)`,
    );
    await survivor.app.get(CouponRecoveryJob).run();
  }
}

async function expectSoundBooks(): Promise<void> {
  const token = await tokenFor('admin', { role: 'admin' });
  for (const url of [survivor.url, coupons.url!]) {
    const { json } = await call(url, 'GET', '/v1/lab/invariants', { token });
    expect(json.invariants.filter(({ breaches }: { breaches: number }) => breaches > 0)).toEqual([]);
  }
}

interface Point {
  /** The coordinator's. */
  coordination: CoordinationName;
  wire: 'database' | 'coupons';
  hold: 'request' | 'reply';
  of: string;
  /** What is in doubt then, in the order's database and in the coupon's. */
  inDoubt: [number, number];
  decided: boolean;
}

const points: [string, Point][] = [
  [
    '2pc, after the coupon was prepared, before it heard of it',
    { coordination: '2pc', wire: 'coupons', hold: 'reply', of: '/prepare', inDoubt: [0, 1], decided: false },
  ],
  [
    '2pc, before the order is prepared',
    {
      coordination: '2pc',
      wire: 'database',
      hold: 'request',
      of: 'prepare transaction',
      inDoubt: [0, 1],
      decided: false,
    },
  ],
  [
    '2pc, after the order was prepared, before it heard of it',
    {
      coordination: '2pc',
      wire: 'database',
      hold: 'reply',
      of: 'prepare transaction',
      inDoubt: [1, 1],
      decided: false,
    },
  ],
  [
    '2pc, with both prepared, before it decides',
    { coordination: '2pc', wire: 'database', hold: 'request', of: 'commit prepared', inDoubt: [1, 1], decided: false },
  ],
  [
    '2pc, after the decision, before it heard of it',
    { coordination: '2pc', wire: 'database', hold: 'reply', of: 'commit prepared', inDoubt: [0, 1], decided: true },
  ],
  [
    '2pc, after the decision, before the coupon service hears of it',
    { coordination: '2pc', wire: 'coupons', hold: 'request', of: '/commit', inDoubt: [0, 1], decided: true },
  ],
  [
    '2pc, after the coupon was committed, before it heard of it',
    { coordination: '2pc', wire: 'coupons', hold: 'reply', of: '/commit', inDoubt: [0, 0], decided: true },
  ],
  [
    'saga, after the coupon was reserved, before it heard of it',
    { coordination: 'saga', wire: 'coupons', hold: 'reply', of: '/reserve', inDoubt: [0, 0], decided: false },
  ],
  [
    'saga, before the order commits',
    { coordination: 'saga', wire: 'database', hold: 'request', of: 'order-find', inDoubt: [0, 0], decided: false },
  ],
  [
    'saga, after the order has committed, before the coupon is confirmed',
    { coordination: 'saga', wire: 'coupons', hold: 'request', of: '/confirm', inDoubt: [0, 0], decided: true },
  ],
  [
    'saga, after the coupon was confirmed, before it heard of it',
    { coordination: 'saga', wire: 'coupons', hold: 'reply', of: '/confirm', inDoubt: [0, 0], decided: true },
  ],
];

describe('a coordinator that is killed', () => {
  it.each(points)(
    '%s: nothing is left in doubt, order and coupon agree, and a retry has one effect',
    async (_, point) => {
      const { user, userCouponId } = await shopper();
      const before = await stockOf(database, option);
      await using toDatabase = await wireTo(database.url);
      await using toCoupons = await wireTo(coupons.url!);
      const coordinator = await startBuilt('order', {
        ORDER_DATABASE_URL: toDatabase.url,
        COUPON_URL: toCoupons.url,
        COORDINATION: point.coordination,
      });
      const caught = { database: toDatabase, coupons: toCoupons }[point.wire].hold(point.hold, point.of);
      const unanswered = orderWith(coordinator.url!, user, userCouponId).then(
        ({ status }) => status,
        () => 'no answer',
      );
      await caught;
      await coordinator.kill();
      expect(await unanswered).toBe('no answer');
      expect([(await preparedIn(database)).length, (await preparedIn(couponDatabase)).length]).toEqual(point.inDoubt);

      const early = await orderWith(survivor.url, user, userCouponId);
      expect([early.status, early.json.code]).toEqual(
        point.decided ? [201, undefined] : [409, 'IDEMPOTENCY_IN_PROGRESS'],
      );
      // Whatever else comes with this key, it is the key of a request that is not over.
      const another = await order(survivor.url, user, [{ optionId: option, quantity: 1 }], { key: 'once', pay: true });
      expect([another.status, another.json.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
      await recovered();
      expect([await ordersOf(user), await couponStatus(userCouponId)]).toEqual(
        point.decided ? [[{ status: 'PAID' }], 'USED'] : [[], 'ISSUED'],
      );
      await expectSoundBooks();

      const again = await untilFinal(() => orderWith(survivor.url, user, userCouponId));
      expect([again.status, again.json.status, again.headers['idempotency-replayed']]).toEqual([
        201,
        'PAID',
        point.decided ? 'true' : undefined,
      ]);
      expect(await ordersOf(user)).toHaveLength(1);
      expect((await stockOf(database, option))!.onHand).toBe(before!.onHand - 2);
      expect(await couponStatus(userCouponId)).toBe('USED');
      await recovered();
      await expectSoundBooks();
    },
  );
});

describe('a coupon service that is killed with its half in doubt', () => {
  it('has it still when it is back, and commits it when the recovery says so; the order was answered meanwhile', async () => {
    const { user, userCouponId } = await shopper();
    await using toDatabase = await wireTo(database.url);
    await using coordinator = await startOrder({
      ORDER_DATABASE_URL: toDatabase.url,
      COUPON_URL: coupons.url!,
      COORDINATION: '2pc',
    });
    const caught = toDatabase.hold('request', 'commit prepared');
    const placing = orderWith(coordinator.url, user, userCouponId);
    const decision = await caught;
    await coupons.kill();
    decision.letGo();
    const placed = await placing;
    expect([placed.status, placed.json.status]).toEqual([201, 'PAID']);
    expect([await preparedIn(couponDatabase), await couponStatus(userCouponId)]).toEqual([
      [expect.any(String)],
      'ISSUED',
    ]);

    const { port } = new URL(coupons.url!);
    coupons = await startBuilt('coupon', { COUPON_DATABASE_URL: couponDatabase.url, PORT: port });
    await recovered();
    expect([await couponStatus(userCouponId), await prepared()]).toEqual(['USED', []]);
    await expectSoundBooks();
  });
});
