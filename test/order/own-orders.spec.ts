import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { absentOrderId, aTime, charge, createOptions, itemsOf, order, pay } from '../support/orders.js';
import { openShops } from '../support/shops.js';
import { tokenFor } from '../support/tokens.js';

let shop: RunningApp;
let other: RunningApp;
let a: number;
let b: number;

beforeAll(async () => {
  const opened = await openShops();
  ({ shop, other } = opened);
  return opened.close;
});
beforeEach(async () => {
  [a, b] = await createOptions(shop.url, { name: 'S', price: 100, stock: 10 }, { name: 'L', price: 250, stock: 4 });
});

const get = async (user: string, path: string, base = other.url) =>
  call(base, 'GET', path, { token: await tokenFor(user) });

describe('somebody else’s order', () => {
  it('is answered exactly like an absent one, on every route', async () => {
    const { json: placed } = await order(shop.url, 'owner', itemsOf({ [a]: 1 }));
    const ask = async (id: string) => {
      const replies = [
        await get('thief', `/v1/orders/${id}`),
        await get('thief', `/v1/orders/${id}/events`),
        await pay(shop.url, 'thief', id),
      ];
      return replies.map(({ json }) => ({ ...json, traceId: 'its own' }));
    };
    const foreign = await ask(placed.orderId);
    expect(foreign).toEqual(await ask(absentOrderId));
    expect(foreign.map(({ status, code }) => `${status} ${code}`)).toEqual(Array(3).fill('404 ORDER_NOT_FOUND'));
    expect((await get('thief', '/v1/me/orders')).json.items).toEqual([]);
  });

  it.each(['abc', '123', 'not-a-uuid', `${absentOrderId}0`, absentOrderId.toUpperCase(), '%00'])(
    'an id like %s is 400',
    async (id) => {
      for (const path of [`/v1/orders/${id}`, `/v1/orders/${id}/events`])
        expect((await get('ann', path)).status).toBe(400);
      expect((await pay(shop.url, 'ann', id)).status).toBe(400);
    },
  );
});

describe('GET /v1/orders/{id}/events', () => {
  it('tells one event per step, numbered from 1', async () => {
    await charge(shop.url, 'eve', 1000);
    const { json: placed } = await order(shop.url, 'eve', itemsOf({ [b]: 1, [a]: 1 }));
    const { json: paid } = await pay(shop.url, 'eve', placed.orderId);
    const { status, json } = await get('eve', `/v1/orders/${placed.orderId}/events`);
    expect(status).toBe(200);
    const { items, subtotal, discount, total } = placed;
    expect(json).toEqual([
      { seq: 1, type: 'OrderCreated', data: { items, subtotal, discount, total }, at: aTime },
      {
        seq: 2,
        type: 'StockReserved',
        data: {
          items: [
            { optionId: a, quantity: 1 },
            { optionId: b, quantity: 1 },
          ],
        },
        at: aTime,
      },
      { seq: 3, type: 'PointsSpent', data: { points: 350 }, at: aTime },
      { seq: 4, type: 'OrderPaid', data: { paymentId: paid.paymentId, method: 'POINTS', total: 350 }, at: aTime },
    ]);
  });
});

describe('GET /v1/me/orders', () => {
  it('pages through one’s own orders, newest first, all or of one status', async () => {
    const [free] = await createOptions(shop.url, { price: 0, stock: 100 });
    const placed: { orderId: string; status: string }[] = [];
    for (let at = 0; at < 7; at++)
      placed.unshift((await order(shop.url, 'many', itemsOf({ [free]: 1 }), { pay: at % 2 === 0 })).json);
    const walk = async (filter: string) => {
      const seen: unknown[] = [];
      for (let cursor = ''; ;) {
        const { status, json } = await get('many', `/v1/me/orders?limit=2${filter}${cursor}`);
        expect(status).toBe(200);
        seen.push(...json.items);
        if (json.nextCursor === null) return seen;
        cursor = `&cursor=${json.nextCursor}`;
      }
    };
    expect(await walk('')).toEqual(placed);
    expect(await walk('&status=PAID')).toEqual(placed.filter(({ status }) => status === 'PAID'));
    expect(await walk('&status=REFUNDED')).toEqual([]);
  });

  it.each(['?status=paid', '?status=', '?status=PAID&status=PAID', '?user=ben', '?limit=0', '?cursor=WzFd'])(
    'refuses the query %s',
    async (query) => {
      expect((await get('ann', `/v1/me/orders${query}`)).status).toBe(400);
    },
  );
});
