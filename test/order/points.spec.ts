import { beforeAll, describe, expect, it } from 'vitest';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { outcomes } from '../support/coupons.js';
import { charge, createOptions, itemsOf, order, untilFinal } from '../support/orders.js';
import { openShops } from '../support/shops.js';
import { tokenFor } from '../support/tokens.js';

let shop: RunningApp;
let other: RunningApp;

beforeAll(async () => {
  const opened = await openShops();
  ({ shop, other } = opened);
  return opened.close;
});

const balance = async (user: string) =>
  (await call(other.url, 'GET', '/v1/me/points', { token: await tokenFor(user) })).json as { balance: number };

describe('points', () => {
  it('are 0 before the first charge', async () => {
    expect(await balance('nobody')).toEqual({ balance: 0 });
  });

  it('are charged once per key, and seen by every instance at once', async () => {
    const first = await charge(shop.url, 'ann', 500, { key: 'k1' });
    expect([first.status, first.json]).toEqual([
      201,
      { ledgerId: expect.any(Number) as number, amount: 500, balance: 500 },
    ]);
    const again = await charge(other.url, 'ann', 500, { key: 'k1' });
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([201, first.text, 'true']);
    expect(await balance('ann')).toEqual({ balance: 500 });
  });

  it('need a key; another amount under the same key is refused', async () => {
    const none = await charge(shop.url, 'bea', 1, { key: undefined });
    expect([none.status, none.json.code]).toEqual([400, 'IDEMPOTENCY_KEY_REQUIRED']);
    await charge(shop.url, 'bea', 1, { key: 'k1' });
    const reused = await charge(shop.url, 'bea', 2, { key: 'k1' });
    expect([reused.status, reused.json.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    expect(await balance('bea')).toEqual({ balance: 1 });
  });

  it.each([0, -1, 1.5, '1', null, true, 1_000_001, 1e300])('refuse to be charged with %j', async (amount) => {
    const reply = await charge(shop.url, 'cid', 1, { body: { amount } });
    expect([reply.status, reply.json.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(await balance('cid')).toEqual({ balance: 0 });
  });

  it('stop at 10 000 000: of 20 charges at once the ten that fit are made, and no point more', async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, at) => {
        const key = `race-${at}`;
        return untilFinal(() => charge([shop, other][at % 2]!.url, 'rich', 1_000_000, { key }));
      }),
    );
    expect(outcomes(replies)).toEqual({ '201': 10, '422 BALANCE_LIMIT_EXCEEDED': 10 });
    expect(await balance('rich')).toEqual({ balance: 10_000_000 });
    expect((await charge(shop.url, 'rich', 1)).json.code).toBe('BALANCE_LIMIT_EXCEEDED');
    const balances = replies.filter(({ status }) => status === 201).map(({ json }) => json.balance as number);
    expect(balances.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, at) => (at + 1) * 1_000_000));
  });
});

describe('the ledger', () => {
  it('has every movement, newest first, in pages that together are everything once', async () => {
    for (const amount of [100, 200, 300]) await charge(shop.url, 'dora', amount);
    const [id] = await createOptions(shop.url, { price: 150 });
    const paid = await order(shop.url, 'dora', itemsOf({ [id]: 2 }), { pay: true });
    const token = await tokenFor('dora');
    const read = (query: string) => call(other.url, 'GET', `/v1/me/points/ledger${query}`, { token });
    const entry = (kind: string, amount: number, after: number, orderId: string | null = null) => ({
      ledgerId: expect.any(Number) as number,
      kind,
      amount,
      balance: after,
      orderId,
      at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
    const all = [
      entry('SPEND', -300, 300, paid.json.orderId as string),
      entry('CHARGE', 300, 600),
      entry('CHARGE', 200, 300),
      entry('CHARGE', 100, 100),
    ];
    expect((await read('')).json).toEqual({ items: all, nextCursor: null });
    const first = await read('?limit=3');
    expect(first.json).toEqual({ items: all.slice(0, 3), nextCursor: expect.any(String) as string });
    expect((await read(`?limit=3&cursor=${first.json.nextCursor}`)).json).toEqual({
      items: all.slice(3),
      nextCursor: null,
    });
  });

  it('is one’s own', async () => {
    expect(
      (await call(shop.url, 'GET', '/v1/me/points/ledger', { token: await tokenFor('stranger') })).json.items,
    ).toEqual([]);
  });

  it.each([
    '?limit=0',
    '?limit=101',
    '?limit=',
    '?limit=1&limit=1',
    '?cursor=',
    '?cursor=x',
    '?cursor=WyJhIl0',
    '?page=1',
  ])('refuses the query %s', async (query) => {
    const reply = await call(shop.url, 'GET', `/v1/me/points/ledger${query}`, { token: await tokenFor('dora') });
    expect([reply.status, reply.json.code]).toEqual([400, 'VALIDATION_FAILED']);
  });
});
