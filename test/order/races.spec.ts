import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stockStrategyNames } from '../../apps/order/src/stock/strategy.js';
import { startOrder } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { barrier } from '../support/barrier.js';
import { call } from '../support/client.js';
import type { Reply } from '../support/client.js';
import { outcomes } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { charge, createOptions, freshKey, order, pay, untilFinal } from '../support/orders.js';
import { tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let instances: [RunningApp, RunningApp];

const startBoth = async () => {
  const overrides = { ORDER_DATABASE_URL: database.url };
  instances = [await startOrder(overrides), await startOrder(overrides)];
};
const stopBoth = () => Promise.all((instances ?? []).map((instance) => instance.close()));

beforeAll(async () => {
  database = await createTestDatabase();
  await startBoth();
});
afterAll(async () => {
  await stopBoth();
  await database?.drop();
});

/** As PostgreSQL counts them. A session may keep its count to itself for seconds, but hands it in when it ends. */
async function deadlocks({ afterAllOf }: { afterAllOf: string }): Promise<number> {
  const sessions = `select from pg_stat_activity where datname = current_database() and application_name = $1`;
  while ((await database.query(sessions, [afterAllOf])).length > 0);
  const [row] = await database.query<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  return row!.deadlocks;
}

/** All at once, spread over both instances; each repeats what is contention with its own key. */
async function crowd(
  size: number,
  request: (base: string, at: number, key: string) => Promise<Reply>,
): Promise<Reply[]> {
  const everybodyIsHere = barrier(size);
  return Promise.all(
    Array.from({ length: size }, async (_, at) => {
      const key = freshKey();
      await everybodyIsHere();
      return untilFinal(() => request(instances[at % 2]!.url, at, key));
    }),
  );
}

/** a-b-c for one half of the crowd, c-b-a for the other. */
const basketsOf = (options: number[], at: number) =>
  (at % 2 === 0 ? options : options.toReversed()).map((optionId) => ({ optionId, quantity: 1 }));

async function expectSoundBooks(): Promise<void> {
  const token = await tokenFor('admin', { role: 'admin' });
  const { json } = await call(instances[0].url, 'GET', '/v1/lab/invariants', { token });
  expect(json.invariants.filter(({ breaches }: { breaches: number }) => breaches > 0)).toEqual([]);
}

describe('negative control: rows locked in the order of the request', () => {
  it('deadlocks when a-b and b-a each hold one and ask for the other', async () => {
    const [a, b] = await createOptions(instances[0].url, {}, {});
    const lock = 'select from options where id = $1 for no key update';
    const bothHoldOne = barrier(2);
    const basket = async (first: number, second: number): Promise<string> => {
      const client = new Client({ connectionString: database.url, application_name: 'basket' });
      try {
        await client.connect();
        await client.query('begin');
        await client.query(lock, [first]);
        await bothHoldOne();
        await client.query(lock, [second]);
        await client.query('commit');
        return 'ordered';
      } catch (error) {
        return (error as { code: string }).code;
      } finally {
        await client.end();
      }
    };
    const before = await deadlocks({ afterAllOf: 'basket' });
    expect((await Promise.all([basket(a, b), basket(b, a)])).toSorted()).toEqual(['40P01', 'ordered']);
    expect(await deadlocks({ afterAllOf: 'basket' })).toBe(before + 1);
  });
});

describe.each(stockStrategyNames)('the strategy %s', (strategy) => {
  const headers = { 'x-stock-strategy': strategy };

  it('sells 60 of 200 baskets a-b-c against c-b-a for stock 60: 140 OUT_OF_STOCK, stock 0, points right, 0 deadlocks', async () => {
    await stopBoth();
    const before = await deadlocks({ afterAllOf: 'order' });
    await startBoth();
    const [{ url }] = instances;
    const options = await createOptions(url, ...[100, 200, 300].map((price) => ({ price, stock: 60 })));
    const buyers = Array.from({ length: 200 }, (_, at) => `${strategy}-buyer-${at}`);
    const charges = await crowd(200, (base, at, key) => charge(base, buyers[at]!, 1000, { key }));
    expect(outcomes(charges)).toEqual({ '201': 200 });

    const replies = await crowd(200, (base, at, key) => {
      return order(base, buyers[at]!, basketsOf(options, at), { key, headers, pay: true });
    });

    expect(outcomes(replies)).toEqual({ '201': 60, '409 OUT_OF_STOCK': 140 });
    const left = await database.query('select on_hand::int, reserved::int from options where id = any($1)', [options]);
    expect(left).toEqual(options.map(() => ({ on_hand: 0, reserved: 0 })));
    const balances = await database.query<{ balance: number; users: number }>(
      'select balance::int, count(*)::int as users from wallets where user_id = any($1) group by balance order by balance',
      [buyers],
    );
    expect(balances).toEqual([
      { balance: 400, users: 60 },
      { balance: 1000, users: 140 },
    ]);
    await expectSoundBooks();

    await stopBoth();
    expect(await deadlocks({ afterAllOf: 'order' })).toBe(before);
    await startBoth();
  });

  it('gives the last piece to one of 50', async () => {
    const [last] = await createOptions(instances[0].url, { stock: 1 });
    const items = [{ optionId: last, quantity: 1 }];
    const replies = await crowd(50, (base, at, key) => order(base, `${strategy}-last-${at}`, items, { key, headers }));
    expect(outcomes(replies)).toEqual({ '201': 1, '409 OUT_OF_STOCK': 49 });
    expect(replies.filter(({ json }) => json.errors?.[0].available === 0)).toHaveLength(49);
  });
});

describe('the strategy unsorted, negative control', () => {
  const headers = { 'x-stock-strategy': 'unsorted' };

  it('deadlocks when a-b-c meets c-b-a; the victim is told of contention, and both are counted', async () => {
    await stopBoth();
    const before = await deadlocks({ afterAllOf: 'order' });
    await startBoth();
    const options = await createOptions(instances[0].url, {}, {}, {});
    const middle = await database.hold('select from options where id = $1 for no key update', [options[1]]);
    const both = instances.map(({ url }, at) => order(url, `unsorted-${at}`, basketsOf(options, at), { headers }));
    await database.untilBlocked(2);
    await middle.letGo();
    expect(outcomes(await Promise.all(both))).toEqual({ '201': 1, '409 CONCURRENT_UPDATE': 1 });
    const metrics = await call(instances[0].url, 'GET', '/metrics');
    expect(metrics.text).toMatch(/firstcome_deadlock_victims_total\{strategy="unsorted"\} [1-9]/);
    await stopBoth();
    expect(await deadlocks({ afterAllOf: 'order' })).toBeGreaterThan(before);
    await startBoth();
  });

  it('sells no piece twice all the same', async () => {
    const options = await createOptions(instances[0].url, { stock: 3 }, { stock: 3 }, { stock: 3 });
    const replies = await crowd(8, (base, at, key) =>
      order(base, `unsorted-crowd-${at}`, basketsOf(options, at), { key, headers }),
    );
    expect(outcomes(replies)).toEqual({ '201': 3, '409 OUT_OF_STOCK': 5 });
    await expectSoundBooks();
  });
});

describe('the strategy none, negative control', () => {
  it('sells more than there is, on tables of its own: nothing of it shows and no guarded row is touched', async () => {
    const [{ url }] = instances;
    const options = await createOptions(url, { stock: 60 }, { stock: 60 }, { stock: 60 });
    const guarded = () => database.query('select * from options where id = any($1) order by id', [options]);
    const before = await guarded();
    const headers = { 'x-stock-strategy': 'none' };
    const replies = await crowd(200, (base, at, key) =>
      order(base, `none-${at}`, basketsOf(options, at), { key, headers, pay: true }),
    );
    expect(outcomes(replies)['201']).toBeGreaterThan(60);
    expect(replies[0]!.json).toMatchObject({ status: 'PAID', total: 300 });
    const [sold] = await database.query('select count(*)::int as n from lab_orders where option_id = $1', [options[0]]);
    expect(sold).toEqual({ n: outcomes(replies)['201'] });

    expect(await guarded()).toEqual(before);
    const token = await tokenFor('none-0');
    expect((await call(url, 'GET', '/v1/me/orders', { token })).json.items).toEqual([]);
    expect((await call(url, 'GET', '/v1/me/points', { token })).json.balance).toBe(0);
    await expectSoundBooks();
  });
});

describe('the wallet', () => {
  it('of 1000 points pays 10 of 20 orders of 100 at once, and no point more', async () => {
    const [{ url }] = instances;
    const [option] = await createOptions(url, { price: 100, stock: 1000 });
    await charge(url, 'spender', 1000);
    const replies = await crowd(20, (base, _, key) =>
      order(base, 'spender', [{ optionId: option, quantity: 1 }], { key, pay: true }),
    );
    expect(outcomes(replies)).toEqual({ '201': 10, '409 INSUFFICIENT_POINTS': 10 });
    await expectSoundBooks();
  });
});

describe('an order', () => {
  it('asked to be paid under 20 keys at once is paid under one', async () => {
    const [{ url }] = instances;
    const [option] = await createOptions(url, { price: 100 });
    await charge(url, 'payer', 10_000);
    const { json: placed } = await order(url, 'payer', [{ optionId: option, quantity: 5 }]);
    const replies = await crowd(20, (base, _, key) => pay(base, 'payer', placed.orderId, { key }));
    expect(outcomes(replies)).toEqual({ '201': 1, '409 ORDER_NOT_PAYABLE': 19 });
    const { json } = await call(url, 'GET', '/v1/me/points', { token: await tokenFor('payer') });
    expect(json.balance).toBe(9500);
    await expectSoundBooks();
  });

  it('adjusted while it is placed: stock that is taken is not sold, stock that is sold is not taken', async () => {
    const [{ url }] = instances;
    const [option] = await createOptions(url, { price: 0, stock: 20 });
    const token = await tokenFor('admin', { role: 'admin' });
    const take = { token, body: { delta: -1, reason: 'race' } };
    const replies = await crowd(60, (base, at, key) =>
      at % 2 === 0
        ? order(base, `racer-${at}`, [{ optionId: option, quantity: 1 }], { key })
        : call(base, 'POST', `/v1/admin/options/${option}/stock-adjustments`, take),
    );
    const { '201': done, ...refused } = outcomes(replies);
    expect(done).toBe(20);
    expect((refused['409 OUT_OF_STOCK'] ?? 0) + (refused['409 STOCK_NEGATIVE'] ?? 0)).toBe(40);
    await expectSoundBooks();
  });
});
