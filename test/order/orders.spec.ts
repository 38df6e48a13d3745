import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import type { TestDatabase } from '../support/database.js';
import { aTime, aUuid, charge, createOptions, itemsOf, order, stockOf } from '../support/orders.js';
import { openShops } from '../support/shops.js';
import { tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let shop: RunningApp;
let other: RunningApp;
let a: number;
let b: number;

beforeAll(async () => {
  const opened = await openShops();
  ({ database, shop, other } = opened);
  return opened.close;
});
beforeEach(async () => {
  [a, b] = await createOptions(shop.url, { name: 'S', price: 100, stock: 10 }, { name: 'L', price: 250, stock: 4 });
});

const get = async (user: string, path: string, base = other.url) =>
  call(base, 'GET', path, { token: await tokenFor(user) });
const balance = async (user: string) => (await get(user, '/v1/me/points')).json.balance as number;
const orders = async () => (await database.query('select from orders')).length;

describe('POST /v1/orders', () => {
  it('merges items of one option, reserves them, and answers what GET shows on any instance', async () => {
    const items = [
      { optionId: b, quantity: 1 },
      { optionId: a, quantity: 2 },
      { optionId: b, quantity: 2 },
    ];
    const placed = await order(shop.url, 'ann', items);
    expect(placed.status).toBe(201);
    expect(placed.json).toEqual({
      orderId: aUuid,
      status: 'PENDING_PAYMENT',
      items: [
        { optionId: a, name: 'S', price: 100, quantity: 2 },
        { optionId: b, name: 'L', price: 250, quantity: 3 },
      ],
      subtotal: 950,
      discount: 0,
      total: 950,
      userCouponId: null,
      expiresAt: aTime,
      createdAt: aTime,
      paidAt: null,
      paymentId: null,
    });
    expect(Date.parse(placed.json.expiresAt) - Date.parse(placed.json.createdAt)).toBe(600_000);
    expect(placed.headers.location).toBe(`/v1/orders/${placed.json.orderId}`);
    expect(placed.headers['server-timing']).toMatch(/lock;dur=[\d.]+, hold;dur=[\d.]+, db;dur=(?!0\.0)[\d.]+/);
    expect((await get('ann', `/v1/orders/${placed.json.orderId}`)).json).toEqual(placed.json);
    expect([await stockOf(database, a), await stockOf(database, b)]).toEqual([
      { onHand: 10, reserved: 2 },
      { onHand: 4, reserved: 3 },
    ]);
  });

  it('names every option that falls short with what is available, and reserves nothing', async () => {
    await order(shop.url, 'ann', itemsOf({ [b]: 3 }));
    const refused = await order(shop.url, 'ben', [
      { optionId: b, quantity: 2 },
      { optionId: a, quantity: 11 },
    ]);
    expect([refused.status, refused.json.code, refused.json.retryable]).toEqual([409, 'OUT_OF_STOCK', false]);
    expect(refused.json.errors).toMatchObject([
      { pointer: '/items/1', code: 'OUT_OF_STOCK', optionId: a, available: 10 },
      { pointer: '/items/0', code: 'OUT_OF_STOCK', optionId: b, available: 1 },
    ]);
    expect([await stockOf(database, a), await stockOf(database, b)]).toEqual([
      { onHand: 10, reserved: 0 },
      { onHand: 4, reserved: 3 },
    ]);
  });

  it('counts the merged items against the stock, not each by itself', async () => {
    const refused = await order(shop.url, 'ann', [
      { optionId: b, quantity: 3 },
      { optionId: b, quantity: 2 },
    ]);
    expect(refused.json.code).toBe('OUT_OF_STOCK');
    const tooMany = await order(shop.url, 'ann', [
      { optionId: b, quantity: 1000 },
      { optionId: b, quantity: 1 },
    ]);
    expect([tooMany.status, tooMany.json.code]).toEqual([422, 'QUANTITY_LIMIT_EXCEEDED']);
  });

  it('is 404 for an absent option, named, also where the id is beyond 2^31', async () => {
    const refused = await order(shop.url, 'ann', itemsOf({ [a]: 1, 2147483648: 1 }));
    expect([refused.status, refused.json.code]).toEqual([404, 'OPTION_NOT_FOUND']);
    expect(refused.json.errors).toMatchObject([{ optionId: 2147483648 }]);
    expect(await stockOf(database, a)).toEqual({ onHand: 10, reserved: 0 });
  });

  it('holds the price that the client expects, or orders nothing and says the total', async () => {
    const items = itemsOf({ [a]: 1, [b]: 1 });
    const changed = await order(shop.url, 'ann', items, { body: { items, expectedTotal: 300 } });
    expect([changed.status, changed.json.code, changed.json.total]).toEqual([409, 'PRICE_CHANGED', 350]);
    expect(await stockOf(database, a)).toEqual({ onHand: 10, reserved: 0 });
    expect((await order(shop.url, 'ann', items, { body: { items, expectedTotal: 350 } })).status).toBe(201);
  });

  it('refuses a total that no number holds, and nothing is rounded', async () => {
    const [dear] = await createOptions(shop.url, { price: Number.MAX_SAFE_INTEGER, stock: 1000 });
    const refused = await order(shop.url, 'ann', itemsOf({ [dear]: 2 }));
    expect([refused.status, refused.json.code]).toEqual([422, 'TOTAL_LIMIT_EXCEEDED']);
    expect((await order(shop.url, 'ann', itemsOf({ [dear]: 1 }))).json.total).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('with a userCouponId that is no UUID is 400', async () => {
    const items = itemsOf({ [a]: 1 });
    const malformed = await order(shop.url, 'ann', items, { body: { items, userCouponId: 'coupon-1' } });
    expect([malformed.status, malformed.json.errors[0].pointer]).toEqual([400, '/userCouponId']);
    expect(await stockOf(database, a)).toEqual({ onHand: 10, reserved: 0 });
  });

  it.each<[string, unknown]>([
    ['no items', {}],
    ['an object for items', { items: {} }],
    ['an empty list', { items: [] }],
    ['null for an item', { items: [null] }],
    ['a list for an item', { items: [[]] }],
    ['51 items', { items: Array.from({ length: 51 }, () => ({ optionId: 1, quantity: 1 })) }],
    ['a quantity of 0', { items: [{ optionId: 1, quantity: 0 }] }],
    ['a quantity of 1001', { items: [{ optionId: 1, quantity: 1001 }] }],
    ['a quantity in text', { items: [{ optionId: 1, quantity: '1' }] }],
    ['a quantity of null', { items: [{ optionId: 1, quantity: null }] }],
    ['an option 0', { items: [{ optionId: 0, quantity: 1 }] }],
    ['an unknown field in an item', { items: [{ optionId: 1, quantity: 1, price: 1 }] }],
    ['a total of its own', { items: [{ optionId: 1, quantity: 1 }], total: 1 }],
    ['a discount of its own', { items: [{ optionId: 1, quantity: 1 }], discount: 1 }],
    ['a status of its own', { items: [{ optionId: 1, quantity: 1 }], status: 'PAID' }],
    ['another user', { items: [{ optionId: 1, quantity: 1 }], userId: 'ben' }],
    ['null for the coupon', { items: [{ optionId: 1, quantity: 1 }], userCouponId: null }],
    ['a negative expectedTotal', { items: [{ optionId: 1, quantity: 1 }], expectedTotal: -1 }],
  ])('refuses %s with 400', async (_, body) => {
    const reply = await order(shop.url, 'ann', [], { body });
    expect([reply.status, reply.json.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it.each(['?pay=1', '?pay=', '?pay=true&pay=true', '?paid=true', '?pay=TRUE'])(
    'refuses the query %s',
    async (query) => {
      const options = { token: await tokenFor('ann'), key: 'k', body: { items: itemsOf({ [a]: 1 }) } };
      const reply = await call(shop.url, 'POST', `/v1/orders${query}`, options);
      expect([reply.status, reply.json.code]).toEqual([400, 'VALIDATION_FAILED']);
    },
  );
});

describe('POST /v1/orders?pay=true', () => {
  it('orders and pays in one answer', async () => {
    await charge(shop.url, 'pat', 1000);
    const paid = await order(shop.url, 'pat', itemsOf({ [a]: 3 }), { pay: true });
    expect([paid.status, paid.json.status, paid.json.paidAt, paid.json.paymentId]).toEqual([201, 'PAID', aTime, aUuid]);
    expect(await balance('pat')).toBe(700);
    expect(await stockOf(database, a)).toEqual({ onHand: 7, reserved: 0 });
  });

  it('is all or nothing: without the points no order and no reservation is left', async () => {
    await charge(shop.url, 'poor', 299);
    const before = await orders();
    const refused = await order(shop.url, 'poor', itemsOf({ [a]: 3 }), { pay: true, key: 'once' });
    expect([refused.status, refused.json.code, refused.json.retryable]).toEqual([409, 'INSUFFICIENT_POINTS', false]);
    expect([await orders(), await stockOf(database, a), await balance('poor')]).toEqual([
      before,
      { onHand: 10, reserved: 0 },
      299,
    ]);
    const replayed = await order(other.url, 'poor', itemsOf({ [a]: 3 }), { pay: true, key: 'once' });
    expect([replayed.text, replayed.headers['idempotency-replayed']]).toEqual([refused.text, 'true']);
  });

  it('pays a total of 0 with 0 points, also for a user who never had any', async () => {
    const [free] = await createOptions(shop.url, { price: 0 });
    const paid = await order(shop.url, 'newcomer', itemsOf({ [free]: 1 }), { pay: true });
    expect([paid.status, paid.json.status, paid.json.total]).toEqual([201, 'PAID', 0]);
    expect((await get('newcomer', '/v1/me/points/ledger')).json.items).toMatchObject([
      { kind: 'SPEND', amount: 0, balance: 0 },
    ]);
  });
});
