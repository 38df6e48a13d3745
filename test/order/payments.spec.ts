import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import type { TestDatabase } from '../support/database.js';
import { absentOrderId, aTime, aUuid, charge, createOptions, itemsOf, order, pay, stockOf } from '../support/orders.js';
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

describe('POST /v1/orders/{id}/payments', () => {
  it('pays once: stock leaves the shelf, points leave the wallet, the answer is the order', async () => {
    await charge(shop.url, 'mia', 1000);
    const { json: placed } = await order(shop.url, 'mia', itemsOf({ [a]: 2, [b]: 1 }));
    const paid = await pay(other.url, 'mia', placed.orderId);
    expect([paid.status, paid.json]).toEqual([201, { ...placed, status: 'PAID', paidAt: aTime, paymentId: aUuid }]);
    expect((await get('mia', `/v1/orders/${placed.orderId}`, shop.url)).json).toEqual(paid.json);
    expect([await stockOf(database, a), await stockOf(database, b)]).toEqual([
      { onHand: 8, reserved: 0 },
      { onHand: 3, reserved: 0 },
    ]);
    expect(await balance('mia')).toBe(550);
    const again = await pay(shop.url, 'mia', placed.orderId);
    expect([again.status, again.json.code, again.json.orderStatus]).toEqual([409, 'ORDER_NOT_PAYABLE', 'PAID']);
    expect(await balance('mia')).toBe(550);
  });

  it('without the points leaves the order as it was, payable later with a new key', async () => {
    const { json: placed } = await order(shop.url, 'lou', itemsOf({ [a]: 1 }));
    expect((await pay(shop.url, 'lou', placed.orderId)).json.code).toBe('INSUFFICIENT_POINTS');
    expect((await get('lou', `/v1/orders/${placed.orderId}`)).json).toEqual(placed);
    await charge(shop.url, 'lou', 100);
    expect((await pay(shop.url, 'lou', placed.orderId)).json.status).toBe('PAID');
  });

  it('is ORDER_EXPIRED once the order is past its time, whether or not a job has seen it', async () => {
    await charge(shop.url, 'late', 1000);
    const { json: placed } = await order(shop.url, 'late', itemsOf({ [a]: 1 }));
    await database.query(
      `update orders set created_at = now() - interval '11 minutes', expires_at = now() - interval '1 minute' where id = $1`,
      [placed.orderId],
    );
    const refused = await pay(shop.url, 'late', placed.orderId);
    expect([refused.status, refused.json.code]).toEqual([409, 'ORDER_EXPIRED']);
    expect(await balance('late')).toBe(1000);
  });

  it.each([{}, { method: 'CARD' }, { method: null }, { method: ['POINTS'] }, { method: 'POINTS', amount: 1 }])(
    'refuses %j',
    async (body) => {
      expect((await pay(shop.url, 'ann', absentOrderId, { body })).status).toBe(400);
    },
  );
});
