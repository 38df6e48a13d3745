import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OrderTicketJob } from '../../apps/order/src/order-ticket.job.js';
import { freePort, redisServerMissing, startRedisServer } from '../lock/support/redis-server.js';
import type { RedisServer } from '../lock/support/redis-server.js';
import { until } from '../lock/support/waiting.js';
import { startCoupon, startOrder } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createCoupon, grab, outcomes } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { aUuid, charge, createOptions, freshKey, itemsOf, order, stockOf } from '../support/orders.js';
import { acceptedOf, resultOf, ticketOf, told } from '../support/tickets.js';
import type { Accepted } from '../support/tickets.js';
import { tokenFor } from '../support/tokens.js';

let couponDatabase: TestDatabase;
let database: TestDatabase;
let coupons: RunningApp;
let shop: RunningApp;
let redisPort: number;
let redis: RedisServer | undefined;
let option: number;

beforeAll(async () => {
  [couponDatabase, database, redisPort] = await Promise.all([createTestDatabase(), createTestDatabase(), freePort()]);
  // The coupons have a Redis of their own, which stays.
  coupons = await startCoupon({ COUPON_DATABASE_URL: couponDatabase.url });
  shop = await startOrder({
    ORDER_DATABASE_URL: database.url,
    COUPON_URL: coupons.url,
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    LOCK_BACKEND_DOWN: 'defer',
    STOCK_STRATEGY: 'pubsub',
  });
});
afterAll(async () => {
  await shop?.close();
  await coupons?.close();
  await redis?.stop();
  await couponDatabase?.drop();
  await database?.drop();
});
beforeEach(async () => {
  await redis?.stop();
  redis = undefined;
  [option] = await createOptions(shop.url, { price: 100, stock: 5 });
});

const back = async () => (redis ??= await startRedisServer([], redisPort));
const results = (accepted: Accepted[]) => Promise.all(accepted.map((each) => resultOf(shop.url, each)));
const ordersOf = (user: string) =>
  database.query<{ id: string; status: string }>('select id, status from orders where user_id = $1', [user]);
const invariants = async (base: string) => {
  const token = await tokenFor('admin', { role: 'admin' });
  return (await call(base, 'GET', '/v1/lab/invariants', { token })).json as { ok: boolean };
};

describe.skipIf(redisServerMissing)('with LOCK_BACKEND_DOWN=defer, an order while Redis is away', () => {
  it.each(['pubsub', 'spin'])('under %s is accepted, and placed once when Redis is back', async (strategy) => {
    const user = `ann-${strategy}`;
    const sent = { key: freshKey(), headers: { 'x-stock-strategy': strategy } };
    const first = await order(shop.url, user, itemsOf({ [option]: 2 }), sent);
    expect([first.status, first.json]).toEqual([202, { ticketId: aUuid }]);
    expect(first.headers.location).toBe(`/v1/me/tickets/${first.json.ticketId}`);
    const again = await order(shop.url, user, itemsOf({ [option]: 2 }), sent);
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([202, first.text, 'true']);
    expect(again.headers.location).toBe(first.headers.location);
    const other = await order(shop.url, user, itemsOf({ [option]: 1 }), sent);
    expect(outcomes([other])).toEqual({ '422 IDEMPOTENCY_KEY_REUSED': 1 });
    const accepted = acceptedOf(user, first);
    expect((await ticketOf(shop.url, accepted)).json).toEqual({ status: 'WAITING' });
    expect(await ordersOf(user)).toEqual([]);
    expect((await call(shop.url, 'GET', '/readyz')).status).toBe(200);

    await back();
    const { status, body } = await resultOf(shop.url, accepted);
    expect([status, body]).toMatchObject([201, { orderId: aUuid, status: 'PENDING_PAYMENT', total: 200 }]);
    expect(await ordersOf(user)).toEqual([{ id: body.orderId, status: 'PENDING_PAYMENT' }]);
    const own = await call(shop.url, 'GET', `/v1/orders/${body.orderId}`, { token: await tokenFor(user) });
    expect(own.json).toEqual(body);
    // The key's answer is the 202 for good; the ticket tells the rest.
    expect((await order(shop.url, user, itemsOf({ [option]: 2 }), sent)).text).toBe(first.text);
    expect(await shop.app.get(OrderTicketJob).worker.run()).toBe(0);
    expect(await stockOf(database, option)).toEqual({ onHand: 5, reserved: 2 });
    expect(await invariants(shop.url)).toMatchObject({ ok: true });
  });

  it('whose ticket is somebody else’s is the 404 of an absent one', async () => {
    const accepted = acceptedOf('ann', await order(shop.url, 'ann', itemsOf({ [option]: 1 })));
    const reply = await ticketOf(shop.url, { ...accepted, user: 'ben' });
    expect(outcomes([reply])).toEqual({ '404 TICKET_NOT_FOUND': 1 });
  });

  it('is placed in the order of arrival; who comes too late is told what any order is told', async () => {
    const users = Array.from({ length: 7 }, (_, at) => `buyer-${at}`);
    const accepted = [];
    for (const user of users) accepted.push(acceptedOf(user, await order(shop.url, user, itemsOf({ [option]: 1 }))));
    await back();
    const all = await results(accepted);
    expect(told(all)).toEqual({ '201': 5, '409 OUT_OF_STOCK': 2 });
    expect(all.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 409, 409]);
    expect(all[6]!.body).toMatchObject({ retryable: false, errors: [{ optionId: option, available: 0 }] });
    expect(await stockOf(database, option)).toEqual({ onHand: 5, reserved: 5 });
    expect(await invariants(shop.url)).toMatchObject({ ok: true });
  });

  it('is paid where it was to be paid, or not placed at all', async () => {
    await charge(shop.url, 'rich', 1000);
    const accepted = [];
    for (const user of ['rich', 'poor']) {
      accepted.push(acceptedOf(user, await order(shop.url, user, itemsOf({ [option]: 1 }), { pay: true })));
    }
    await back();
    const [rich, poor] = await results(accepted);
    expect(rich).toMatchObject({ status: 201, body: { status: 'PAID' } });
    expect(poor).toMatchObject({ status: 409, body: { code: 'INSUFFICIENT_POINTS' } });
    expect(await ordersOf('poor')).toEqual([]);
    expect(await stockOf(database, option)).toEqual({ onHand: 4, reserved: 0 });
    expect(await invariants(shop.url)).toMatchObject({ ok: true });
  });

  it('leaves its coupon alone until it is placed, and then has it', async () => {
    const couponId = await createCoupon(coupons.url);
    const userCouponId = (await grab(coupons.url, couponId, 'cat')).json.userCouponId as string;
    const statusOf = async () =>
      (
        await couponDatabase.query<{ status: string }>('select status from user_coupons where id = $1', [userCouponId])
      )[0]!.status;
    const items = itemsOf({ [option]: 1 });
    const reply = await order(shop.url, 'cat', items, { body: { items, userCouponId } });
    const accepted = acceptedOf('cat', reply);
    await back();
    const { status, body } = await resultOf(shop.url, accepted);
    expect([status, body]).toMatchObject([201, { userCouponId, discount: 10, total: 90 }]);
    expect(await statusOf()).toBe('RESERVED');
    await until('nothing is in between', async () => (await invariants(shop.url)).ok);
    expect(await invariants(coupons.url)).toMatchObject({ ok: true });
  });

  it('that no wait will mend is refused at once, whether or not others wait', async () => {
    const wrong = { key: freshKey(), headers: { 'x-stock-strategy': 'luck' } };
    await order(shop.url, 'first', itemsOf({ [option]: 1 }));
    const replies = [
      await order(shop.url, 'dan', [{ optionId: option, quantity: 1000 }, ...itemsOf({ [option]: 1 })]),
      await order(shop.url, 'dan', itemsOf({ [option]: 1 }), wrong),
    ];
    expect(outcomes(replies)).toEqual({ '422 QUANTITY_LIMIT_EXCEEDED': 1, '400 STRATEGY_UNKNOWN': 1 });
  });

  it('is refused to a user of whom 20 wait already: 503 LOCK_QUEUE_FULL', async () => {
    const replies = [];
    for (let sent = 0; sent < 21; sent++) replies.push(await order(shop.url, 'eve', itemsOf({ [option]: 1 })));
    expect(outcomes(replies)).toEqual({ '202': 20, '503 LOCK_QUEUE_FULL': 1 });
    expect(replies.at(-1)!.json.retryable).toBe(true);
    await back();
    const done = await results(replies.slice(0, 20).map((reply) => acceptedOf('eve', reply)));
    expect(told(done)).toMatchObject({ '409 OUT_OF_STOCK': expect.any(Number) as number });
  });
});

describe.skipIf(redisServerMissing)('without a lock in Redis', () => {
  it('an order is placed at once, with or without Redis', async () => {
    await using sorted = await startOrder({
      ORDER_DATABASE_URL: (await fresh()).url,
      REDIS_URL: `redis://127.0.0.1:${redisPort}`,
      LOCK_BACKEND_DOWN: 'defer',
    });
    const [own] = await createOptions(sorted.url, { stock: 1 });
    expect((await order(sorted.url, 'ann', itemsOf({ [own]: 1 }))).status).toBe(201);
  });

  it('the policy fail refuses what needs one: 503 LOCK_BACKEND_UNAVAILABLE, and nothing is stored', async () => {
    const own = await fresh();
    await using strict = await startOrder({
      ORDER_DATABASE_URL: own.url,
      REDIS_URL: `redis://127.0.0.1:${redisPort}`,
      STOCK_STRATEGY: 'pubsub',
    });
    const [item] = await createOptions(strict.url, { stock: 1 });
    const replies = [await order(strict.url, 'ann', itemsOf({ [item]: 1 }))];
    expect(outcomes(replies)).toEqual({ '503 LOCK_BACKEND_UNAVAILABLE': 1 });
    expect(await own.query('select from tickets')).toEqual([]);
  });

  const databases: TestDatabase[] = [];
  const fresh = async () => {
    const made = await createTestDatabase();
    databases.push(made);
    return made;
  };
  afterAll(async () => {
    for (const each of databases) await each.drop();
  });
});
