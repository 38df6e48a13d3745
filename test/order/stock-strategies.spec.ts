import { Client } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { labStrategyNames, stockStrategyNames } from '../../apps/order/src/stock/strategy.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import type { TestDatabase } from '../support/database.js';
import { createOptions, itemsOf, order, stockOf } from '../support/orders.js';
import { openShop } from '../support/shops.js';

let database: TestDatabase;
let shop: RunningApp;

beforeAll(async () => {
  const opened = await openShop();
  ({ database, shop } = opened);
  return opened.close;
});

const under = (strategy: string) => ({ headers: { 'x-stock-strategy': strategy } });

async function counted(name: string, strategy: string): Promise<number> {
  const { text } = await call(shop.url, 'GET', '/metrics');
  return Number(new RegExp(`^${name}\\{strategy="${strategy}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

/** An order that has read its options and now waits for their rows; meanwhile `change` happens to them. */
async function overtaken(strategy: string, optionId: number, change: string) {
  const other = new Client({ connectionString: database.url });
  await other.connect();
  try {
    await other.query('begin');
    await other.query(change, [optionId]);
    const reply = order(shop.url, 'ann', itemsOf({ [optionId]: 1 }), under(strategy));
    await database.untilBlocked(1);
    await other.query('commit');
    return await reply;
  } finally {
    await other.end();
  }
}

describe.each([...stockStrategyNames, ...labStrategyNames])('the strategy %s', (strategy) => {
  it('answers every shortfall and every absence alike', async () => {
    const [a, b] = await createOptions(shop.url, { stock: 5, price: 100 }, { stock: 1, price: 50 });
    const bought = await order(
      shop.url,
      'ann',
      [
        { optionId: b, quantity: 1 },
        { optionId: a, quantity: 2 },
      ],
      under(strategy),
    );
    expect(bought.status).toBe(201);
    expect(bought.json).toMatchObject({
      status: 'PENDING_PAYMENT',
      total: 250,
      items: [{ optionId: a }, { optionId: b }],
    });

    const short = await order(shop.url, 'ann', itemsOf({ [a]: 4, [b]: 1 }), under(strategy));
    expect([short.status, short.json.code]).toEqual([409, 'OUT_OF_STOCK']);
    expect(short.json.errors).toMatchObject([
      { optionId: a, available: 3 },
      { optionId: b, available: 0 },
    ]);
    const absent = await order(shop.url, 'ann', itemsOf({ [a]: 1, 2147483648: 1 }), under(strategy));
    expect([absent.status, absent.json.code]).toEqual([404, 'OPTION_NOT_FOUND']);
    const guarded = strategy !== 'none';
    expect(await stockOf(database, a)).toEqual({ onHand: 5, reserved: guarded ? 2 : 0 });
  });
});

describe('the safety net', () => {
  it.each(['optimistic', 'spin', 'pubsub'])(
    'refuses what %s had promised, counts it, and it is contention',
    async (strategy) => {
      const [id] = await createOptions(shop.url, { stock: 1 });
      const before = await counted('firstcome_safety_net_trips_total', strategy);
      // By somebody who asks for no turn and leaves no version behind.
      const reply = await overtaken(strategy, id, 'update options set on_hand = 0, initial_stock = 0 where id = $1');
      expect([reply.status, reply.json.code, reply.json.retryable]).toEqual([409, 'CONCURRENT_UPDATE', true]);
      expect(await counted('firstcome_safety_net_trips_total', strategy)).toBe(before + 1);
      expect(await stockOf(database, id)).toEqual({ onHand: 0, reserved: 0 });
    },
  );

  it.each(['sorted', 'unsorted', 'atomic'])(
    'is not needed by %s, which sees the row as it is when its lock is got',
    async (strategy) => {
      const [id] = await createOptions(shop.url, { stock: 1 });
      const reply = await overtaken(strategy, id, 'update options set on_hand = 0, initial_stock = 0 where id = $1');
      expect([reply.status, reply.json.code]).toEqual([409, 'OUT_OF_STOCK']);
      expect(await counted('firstcome_safety_net_trips_total', strategy)).toBe(0);
    },
  );
});

describe('optimistic', () => {
  it('tries again in a new transaction when a version has changed', async () => {
    const [id] = await createOptions(shop.url, { stock: 2 });
    const before = await counted('firstcome_optimistic_retries_total', 'optimistic');
    const bumped =
      'update options set on_hand = on_hand - 1, initial_stock = initial_stock - 1, version = version + 1 where id = $1';
    const reply = await overtaken('optimistic', id, bumped);
    expect(reply.status).toBe(201);
    expect(await counted('firstcome_optimistic_retries_total', 'optimistic')).toBe(before + 1);
    expect(await stockOf(database, id)).toEqual({ onHand: 1, reserved: 1 });
  });
});

describe('a fence', () => {
  it.each(['spin', 'pubsub'])(
    'of %s is left in the row, and one that fell behind it is raised and the work repeated',
    async (strategy) => {
      const [id] = await createOptions(shop.url, {});
      expect((await order(shop.url, 'ann', itemsOf({ [id]: 1 }), under(strategy))).status).toBe(201);
      const fence = async () =>
        (await database.query<{ fence: string }>('select fence::text from options where id = $1', [id]))[0]!.fence;
      const first = BigInt(await fence());
      expect(first).toBeGreaterThan(0n);
      const ahead = first + 3_600_000_000n;
      await database.query('update options set fence = $2 where id = $1', [id, ahead.toString()]);
      expect((await order(shop.url, 'ann', itemsOf({ [id]: 1 }), under(strategy))).status).toBe(201);
      expect(BigInt(await fence())).toBeGreaterThan(ahead);
      expect(await stockOf(database, id)).toEqual({ onHand: 10, reserved: 2 });
    },
  );
});
