import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import type { TestDatabase } from '../support/database.js';
import { charge, createOptions, itemsOf, order, pay, untilFinal } from '../support/orders.js';
import { openShops } from '../support/shops.js';
import { tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let instances: [RunningApp, RunningApp];
let option: number;

beforeAll(async () => {
  const opened = await openShops();
  database = opened.database;
  instances = [opened.shop, opened.other];
  return opened.close;
});
beforeEach(async () => {
  [option] = await createOptions(instances[0].url, { price: 100, stock: 100 });
});

const count = async (table: string, where = 'true') =>
  (await database.query<{ n: number }>(`select count(*)::int as n from ${table} where ${where}`))[0]?.n;

describe('20 copies of one key over two instances', () => {
  it('place one order; 19 equal replays', async () => {
    const copy = (at: number) =>
      untilFinal(() => order(instances[at % 2]!.url, 'ann', itemsOf({ [option]: 2 }), { key: 'order-1' }));
    const replies = await Promise.all(Array.from({ length: 20 }, (_, at) => copy(at)));
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(19);
    expect(await count('orders', `user_id = 'ann'`)).toBe(1);
    expect(await count('options', `id = ${option} and reserved = 2`)).toBe(1);
  });

  it('pay one order once', async () => {
    await charge(instances[0].url, 'ben', 1000);
    const { json: placed } = await order(instances[0].url, 'ben', itemsOf({ [option]: 3 }));
    const copy = (at: number) => untilFinal(() => pay(instances[at % 2]!.url, 'ben', placed.orderId, { key: 'pay-1' }));
    const replies = await Promise.all(Array.from({ length: 20 }, (_, at) => copy(at)));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies[0]!.json.status).toBe('PAID');
    expect(await count('payments', `order_id = '${placed.orderId}'`)).toBe(1);
    expect(await count('wallets', `user_id = 'ben' and balance = 700`)).toBe(1);
  });

  it('charge once', async () => {
    const copy = (at: number) => untilFinal(() => charge(instances[at % 2]!.url, 'cat', 500, { key: 'charge-1' }));
    const replies = await Promise.all(Array.from({ length: 20 }, (_, at) => copy(at)));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies[0]!.json).toMatchObject({ amount: 500, balance: 500 });
  });
});

describe('an Idempotency-Key', () => {
  it.each<[string, string | string[] | undefined, string]>([
    ['missing', undefined, 'IDEMPOTENCY_KEY_REQUIRED'],
    ['empty', '', 'IDEMPOTENCY_KEY_INVALID'],
    ['of 256 characters', 'k'.repeat(256), 'IDEMPOTENCY_KEY_INVALID'],
    ['with a blank in it', 'a b', 'IDEMPOTENCY_KEY_INVALID'],
    ['sent twice', ['a', 'b'], 'IDEMPOTENCY_KEY_INVALID'],
  ])('%s is 400 on orders, payments and charges, and nothing happens', async (_, key, code) => {
    const headers = { 'idempotency-key': key };
    const token = await tokenFor('dan');
    const replies = [
      await call(instances[0].url, 'POST', '/v1/orders', { token, headers, body: { items: itemsOf({ [option]: 1 }) } }),
      await call(instances[0].url, 'POST', '/v1/me/points/charges', { token, headers, body: { amount: 1 } }),
      await call(instances[0].url, 'POST', '/v1/orders/01890a5d-ac96-774b-bcce-b302099a8057/payments', {
        token,
        headers,
        body: { method: 'POINTS' },
      }),
    ];
    expect(replies.map(({ status, json }) => [status, json.code])).toEqual(replies.map(() => [400, code]));
    expect(await count('options', `id = ${option} and reserved = 0`)).toBe(1);
  });

  it('of 255 characters is one', async () => {
    const key = '~'.repeat(255);
    expect((await order(instances[0].url, 'dan', itemsOf({ [option]: 1 }), { key })).status).toBe(201);
  });

  it('with another body or query is refused; the same in another order of members is the same', async () => {
    const [url] = [instances[0].url];
    const first = await order(url, 'eve', [{ optionId: option, quantity: 1 }], { key: 'k1' });
    const sameThing = await order(url, 'eve', [{ quantity: 1, optionId: option }], { key: 'k1' });
    expect(sameThing.text).toBe(first.text);
    const otherBody = await order(url, 'eve', [{ optionId: option, quantity: 2 }], { key: 'k1' });
    const otherQuery = await order(url, 'eve', [{ optionId: option, quantity: 1 }], { key: 'k1', pay: true });
    for (const { status, json } of [otherBody, otherQuery]) {
      expect([status, json.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    }
    expect(await count('orders', `user_id = 'eve'`)).toBe(1);
  });

  it('belongs to one user, and to one path with its ids', async () => {
    const [url] = [instances[0].url];
    await charge(url, 'fay', 1000, { key: 'same' });
    const orders = [
      await order(url, 'fay', itemsOf({ [option]: 1 }), { key: 'same' }),
      await order(url, 'gus', itemsOf({ [option]: 1 }), { key: 'same' }),
    ];
    const second = await order(url, 'fay', itemsOf({ [option]: 1 }));
    const payments = [
      await pay(url, 'fay', orders[0]!.json.orderId, { key: 'same' }),
      await pay(url, 'fay', second.json.orderId, { key: 'same' }),
    ];
    for (const { status, headers } of [...orders, ...payments]) {
      expect([status, headers['idempotency-replayed']]).toEqual([201, undefined]);
    }
  });

  it('keeps a final refusal: the stock that comes later is for another key', async () => {
    const [url] = [instances[0].url];
    const [scarce] = await createOptions(url, { stock: 0 });
    const refused = await order(url, 'hal', itemsOf({ [scarce]: 1 }), { key: 'k1' });
    expect(refused.json.code).toBe('OUT_OF_STOCK');
    await database.query('update options set on_hand = 1, initial_stock = 1 where id = $1', [scarce]);
    const replayed = await order(instances[1].url, 'hal', itemsOf({ [scarce]: 1 }), { key: 'k1' });
    expect([replayed.status, replayed.text, replayed.headers['idempotency-replayed']]).toEqual([
      409,
      refused.text,
      'true',
    ]);
    expect((await order(url, 'hal', itemsOf({ [scarce]: 1 }), { key: 'k2' })).status).toBe(201);
  });

  it('in progress elsewhere is 409 with Retry-After; contention is not stored, so a repeat can win', async () => {
    const [url] = [instances[0].url];
    const row = await database.hold('select from options where id = $1 for update', [option]);
    const first = order(url, 'ida', itemsOf({ [option]: 1 }), { key: 'k1' });
    await database.untilBlocked(1);
    const second = await order(instances[1].url, 'ida', itemsOf({ [option]: 1 }), { key: 'k1' });
    expect([second.status, second.json.code, second.json.retryable]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS', true]);
    expect(Number(second.headers['retry-after'])).toBeGreaterThan(0);
    // Nobody lets go: the wait for the row ends by its deadline, as contention.
    const gaveUp = await first;
    expect([gaveUp.status, gaveUp.json.code, gaveUp.json.retryable]).toEqual([409, 'CONCURRENT_UPDATE', true]);
    await row.letGo();
    expect((await order(url, 'ida', itemsOf({ [option]: 1 }), { key: 'k1' })).status).toBe(201);
  });
});
