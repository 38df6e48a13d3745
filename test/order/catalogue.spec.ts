import { beforeAll, describe, expect, it } from 'vitest';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import type { TestDatabase } from '../support/database.js';
import { createOptions, itemsOf, order } from '../support/orders.js';
import { openShops } from '../support/shops.js';
import { tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let shop: RunningApp;
let other: RunningApp;
let admin: string;

beforeAll(async () => {
  const opened = await openShops();
  ({ database, shop, other } = opened);
  admin = await tokenFor('admin', { role: 'admin' });
  return opened.close;
});

const create = (body: unknown) => call(shop.url, 'POST', '/v1/admin/products', { token: admin, body });
const adjust = (optionId: number | string, body: unknown) =>
  call(shop.url, 'POST', `/v1/admin/options/${optionId}/stock-adjustments`, { token: admin, body });

describe('POST /v1/admin/products', () => {
  it('answers the object that GET shows on any instance, its options in the order sent', async () => {
    const options = ['L', 'S', 'M'].map((name, at) => ({ name, price: 300 - at, stock: at }));
    const created = await create({ name: 'Shirt ✿', options });
    expect(created.status).toBe(201);
    expect(created.json).toEqual({
      productId: expect.any(Number) as number,
      name: 'Shirt ✿',
      options: options.map(({ name, price, stock }) => ({
        optionId: expect.any(Number) as number,
        name,
        price,
        available: stock,
      })),
    });
    const found = await call(other.url, 'GET', `/v1/products/${created.json.productId}`);
    expect([found.status, found.json]).toEqual([200, created.json]);
  });

  it('takes 50 options and every price up to 2^53-1', async () => {
    const option = { name: 'x', price: Number.MAX_SAFE_INTEGER, stock: 1 };
    const created = await create({ name: 'Dear', options: Array.from({ length: 50 }, () => option) });
    expect(created.json.options).toHaveLength(50);
    expect(created.json.options[49].price).toBe(9007199254740991);
  });

  const option = { name: 'S', price: 1, stock: 1 };
  it.each([
    ['no name', { options: [option] }],
    ['a blank name', { name: ' ', options: [option] }],
    ['no options', { name: 'x', options: [] }],
    ['51 options', { name: 'x', options: Array.from({ length: 51 }, () => option) }],
    ['an array for an option', { name: 'x', options: [[]] }],
    ['null for an option', { name: 'x', options: [null] }],
    ['a negative price', { name: 'x', options: [{ ...option, price: -1 }] }],
    ['a price in text', { name: 'x', options: [{ ...option, price: '1' }] }],
    ['half a piece', { name: 'x', options: [{ ...option, stock: 0.5 }] }],
    ['an unknown field in an option', { name: 'x', options: [{ ...option, reserved: 1 }] }],
  ])('refuses %s', async (_, body) => {
    const reply = await create(body);
    expect([reply.status, reply.json.code]).toEqual([400, 'VALIDATION_FAILED']);
  });
});

describe('GET /v1/products', () => {
  it('needs no token, and its pages together are everything once, newest first', async () => {
    for (let at = 0; at < 5; at++) await createOptions(shop.url, {});
    const products = await database.query('select from products');
    const seen: number[] = [];
    for (let path: string | null = '/v1/products?limit=3'; path;) {
      const page = await call(other.url, 'GET', path);
      expect(page.status).toBe(200);
      expect(page.json.items.length).toBeLessThanOrEqual(3);
      seen.push(...page.json.items.map(({ productId }: { productId: number }) => productId));
      path = page.json.nextCursor && `/v1/products?limit=3&cursor=${page.json.nextCursor}`;
    }
    expect(seen).toHaveLength(products.length);
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => b - a));
  });

  it('says 404 for an absent product, and 400 for an id that is none', async () => {
    const absent = await call(shop.url, 'GET', '/v1/products/9007199254740991');
    expect([absent.status, absent.json.code]).toEqual([404, 'PRODUCT_NOT_FOUND']);
    for (const id of ['0', '-1', 'abc', '1.0', '01', '9007199254740992', '99999999999999999999', '%00']) {
      expect([id, (await call(shop.url, 'GET', `/v1/products/${id}`)).status]).toEqual([id, 400]);
    }
  });
});

describe('POST /v1/admin/options/{id}/stock-adjustments', () => {
  it('changes what is available, and keeps a note of who and why', async () => {
    const [id] = await createOptions(shop.url, { stock: 5 });
    expect((await adjust(id, { delta: 3, reason: 'found' })).json).toEqual({ optionId: id, available: 8 });
    const down = await adjust(id, { delta: -8, reason: 'broken' });
    expect([down.status, down.json]).toEqual([201, { optionId: id, available: 0 }]);
    const notes = await database.query(
      'select delta::int, reason, admin_id from stock_adjustments where option_id = $1 order by id',
      [id],
    );
    expect(notes).toEqual([
      { delta: 3, reason: 'found', admin_id: 'admin' },
      { delta: -8, reason: 'broken', admin_id: 'admin' },
    ]);
  });

  it('never takes what an order has reserved', async () => {
    const [id] = await createOptions(shop.url, { stock: 5 });
    expect((await order(shop.url, 'ann', itemsOf({ [id]: 3 }))).status).toBe(201);
    const refused = await adjust(id, { delta: -3, reason: 'too much' });
    expect([refused.status, refused.json.code, refused.json.available]).toEqual([409, 'STOCK_NEGATIVE', 2]);
    expect((await adjust(id, { delta: -2, reason: 'all that is free' })).json.available).toBe(0);
  });

  it('has a ceiling, answers 404 for an absent option, and refuses what is no adjustment', async () => {
    const [id] = await createOptions(shop.url, { stock: 1 });
    const over = await adjust(id, { delta: 1_000_000_000_000, reason: 'x' });
    expect([over.status, over.json.code]).toEqual([422, 'STOCK_LIMIT_EXCEEDED']);
    expect((await adjust(2147483648, { delta: 1, reason: 'x' })).json.code).toBe('OPTION_NOT_FOUND');
    for (const body of [
      { delta: 0, reason: 'x' },
      { delta: 1 },
      { delta: 1, reason: '' },
      { delta: 1e16, reason: 'x' },
    ]) {
      expect([body, (await adjust(id, body)).status]).toEqual([body, 400]);
    }
  });
});
