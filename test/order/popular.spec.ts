import { beforeAll, describe, expect, it } from 'vitest';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import type { TestDatabase } from '../support/database.js';
import { aTime, charge, createOptions, itemsOf, order, refund } from '../support/orders.js';
import { openShop } from '../support/shops.js';

let database: TestDatabase;
let shop: RunningApp;

beforeAll(async () => {
  const opened = await openShop();
  ({ database, shop } = opened);
  return opened.close;
});

const popular = (query = '') => call(shop.url, 'GET', `/v1/products/popular${query}`);
const buy = (items: Record<number, number>) => order(shop.url, 'ann', itemsOf(items), { pay: true });
const soldOf = async (query?: string) => (await popular(query)).json.items.map(({ sold }: { sold: number }) => sold);

describe('GET /v1/products/popular', () => {
  it('is empty, and says when, where nothing was sold', async () => {
    expect((await popular()).json).toEqual({ asOf: aTime, items: [] });
  });

  it('counts pieces that were paid in these days and not refunded, per product, most first', async () => {
    await charge(shop.url, 'ann', 1_000_000);
    const [a, b] = await createOptions(shop.url, { stock: 100 }, { stock: 100 });
    const [c] = await createOptions(shop.url, { stock: 100 });
    const [d] = await createOptions(shop.url, { stock: 100 });
    const old = await buy({ [d]: 90 });
    await buy({ [a]: 2, [b]: 3 });
    await buy({ [c]: 4 });
    const returned = await buy({ [c]: 50 });
    await refund(shop.url, 'ann', returned.json.orderId);
    await order(shop.url, 'ann', itemsOf({ [c]: 40 }));
    await database.query(`update orders set paid_at = now() - interval '4 days' where id = $1`, [old.json.orderId]);

    const { status, json } = await popular();
    expect([status, json.items.map(({ sold }: { sold: number }) => sold)]).toEqual([200, [5, 4]]);
    expect(json.items[0].options.map(({ optionId }: { optionId: number }) => optionId)).toEqual([a, b]);
    const found = await call(shop.url, 'GET', `/v1/products/${json.items[0].productId}`);
    expect(json.items[0]).toEqual({ ...found.json, sold: 5 });
    expect(await soldOf('?days=5')).toEqual([90, 5, 4]);
    expect(await soldOf('?days=5&limit=1')).toEqual([90]);
  });

  it.each(['days=0', 'days=366', 'days=', 'days=1.5', 'days=3&days=3', 'limit=0', 'limit=101', 'cursor=x', 'Days=3'])(
    'refuses ?%s',
    async (query) => expect([(await popular(`?${query}`)).status, query]).toEqual([400, query]),
  );
});
