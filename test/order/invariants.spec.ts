import { Client } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { invariants } from '../../apps/order/src/invariants.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import type { TestDatabase } from '../support/database.js';
import { cancel, charge, createOptions, itemsOf, order, pay, refund } from '../support/orders.js';
import { openShop } from '../support/shops.js';
import { tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let shop: RunningApp;

beforeAll(async () => {
  const opened = await openShop();
  ({ database, shop } = opened);
  const [a, b] = await createOptions(shop.url, { stock: 10 }, { stock: 10 });
  await charge(shop.url, 'ann', 1000);
  const { json: placed } = await order(shop.url, 'ann', itemsOf({ [a]: 1, [b]: 2 }));
  await pay(shop.url, 'ann', placed.orderId);
  await order(shop.url, 'ann', itemsOf({ [a]: 2 }), { pay: true });
  await order(shop.url, 'ben', itemsOf({ [a]: 3, [b]: 1 }));
  const { json: unwanted } = await order(shop.url, 'cat', itemsOf({ [a]: 1 }));
  await cancel(shop.url, 'cat', unwanted.orderId);
  const { json: returned } = await order(shop.url, 'ann', itemsOf({ [a]: 1 }), { pay: true });
  await refund(shop.url, 'ann', returned.orderId);
  return opened.close;
});

/** The ids of the invariants that the statements break; then everything is as it was. */
async function breachedBy(statements: string[]): Promise<string[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query('begin');
    for (const statement of statements) await client.query(statement);
    const ids = [];
    for (const invariant of invariants) {
      // An attempt leaves rows behind that the next one would see.
      await client.query('savepoint each');
      const ask = async (text: string, values?: unknown[]) => (await client.query<never>(text, values)).rows;
      const breaches = await ('text' in invariant ? ask(invariant.text) : invariant.attempt(ask));
      if (breaches.length > 0) ids.push(invariant.id);
      await client.query('rollback to savepoint each');
    }
    return ids;
  } finally {
    await client.end();
  }
}

// Rows changed behind the application's back; a constraint in the way is dropped first, as a careless migration would.
const tamperings: [id: string, what: string, statements: string[]][] = [
  ['I3', 'a piece vanishes from the shelf', ['update options set on_hand = on_hand - 1']],
  ['I3', 'a reservation vanishes', ['update options set reserved = reserved - 1']],
  [
    'I3',
    'an adjustment has no effect',
    [`insert into stock_adjustments (option_id, delta, reason, admin_id) select id, 1, 'x', 'x' from options`],
  ],
  ['I4', 'a point vanishes', [`update wallets set balance = balance - 1 where user_id = 'ann'`]],
  ['I4', 'an entry vanishes', [`delete from points_ledger where kind = 'CHARGE'`]],
  [
    'I5',
    'two live orders hold one coupon',
    ['drop index orders_coupon_once', `update orders set user_coupon_id = '01890a5d-ac96-774b-bcce-b302099a8057'`],
  ],
  [
    'I5',
    'a coupon is still reserved for an order that has ended',
    [
      `insert into coupon_uses (order_id, user_coupon_id, user_id, request_id, state, due_at)
       values (gen_random_uuid(), gen_random_uuid(), 'x', sha256('x'), 'RESERVED', now())`,
    ],
  ],
  ['I6', 'a paid order has no payment', ['delete from payments']],
  [
    'I6',
    'a paid order has two payments',
    [
      'alter table payments drop constraint payments_once',
      `insert into payments (id, order_id, method, amount) select gen_random_uuid(), order_id, method, amount from payments`,
    ],
  ],
  ['I6', 'a payment is not of the total', ['update payments set amount = amount + 1']],
  [
    'I6',
    'an unpaid order was spent for',
    [
      `update points_ledger set order_id = (select id from orders where user_id = 'ben') where id = (select max(id) from points_ledger)`,
    ],
  ],
  ['I6', 'a refunded order was not refunded', [`delete from points_ledger where kind = 'REFUND'`]],
  [
    'I7',
    'a finished order keeps its reservation',
    [`update orders set status = 'CANCELLED', ended_at = now() where user_id = 'ben'`],
  ],
  ['I8', 'a key is in progress for ever', [`insert into idempotency_keys (id, fingerprint) values (sha256('x'), 'x')`]],
  ['I8', 'an order that no answer names', [`delete from idempotency_keys where body like '%PENDING_PAYMENT%'`]],
  [
    'I8',
    'a charge that two keys claim',
    [
      `insert into idempotency_keys (id, fingerprint, status, body) select sha256(id), fingerprint, status, body from idempotency_keys`,
    ],
  ],
  [
    'I9',
    'a ticket tells of an order that is not there',
    [
      `insert into tickets (id, line, user_id, asked, trace_id, status, body, done_at)
       values (gen_random_uuid(), 'orders', 'ann', '{}', 't', 201, '{"orderId":"01980000-0000-7000-8000-000000000000"}', now())`,
    ],
  ],
  [
    'I10',
    'the option forgets the fences that it has seen',
    [
      'create function forget() returns trigger language plpgsql as $$ begin new.fence = 0; return new; end $$',
      'create trigger forget before insert on options for each row execute function forget()',
    ],
  ],
  ['I12', 'an event is missing', [`delete from order_events where type = 'OrderPaid'`]],
  ['I12', 'a compensation is missing', [`delete from order_events where type = 'StockReleased'`]],
  [
    'I12',
    'an event is told twice',
    [
      `insert into order_events (order_id, seq, type, data) select order_id, 9, type, data from order_events where type = 'OrderCreated'`,
    ],
  ],
  [
    'I12',
    'an event of a step that never was',
    [`update order_events set type = 'OrderPaid' where type = 'StockReserved'`],
  ],
];

describe('the invariants of the order database', () => {
  it('hold after ordinary work', async () => {
    expect(await breachedBy([])).toEqual([]);
  });

  it('have a tampering each below, so none is blind', () => {
    expect(new Set(tamperings.map(([id]) => id))).toEqual(new Set(invariants.map(({ id }) => id)));
  });

  it.each(tamperings)('%s turns red when %s', async (id, _, statements) => {
    expect(await breachedBy(statements)).toContain(id);
  });

  it('are answered by the lab with the rows that break them', async () => {
    const token = await tokenFor('admin', { role: 'admin' });
    const report = async () => (await call(shop.url, 'GET', '/v1/lab/invariants', { token })).json;
    expect(await report()).toMatchObject({ ok: true });
    await database.query(`update wallets set balance = balance + 1 where user_id = 'ann'`);
    const { ok, invariants: checked } = await report();
    expect(ok).toBe(false);
    expect(checked.find(({ id }: { id: string }) => id === 'I4')).toMatchObject({
      breaches: 1,
      examples: [{ user_id: 'ann' }],
    });
    await database.query(`update wallets set balance = balance - 1 where user_id = 'ann'`);
  });
});

describe('the schema', () => {
  it.each([
    ['options_never_oversold', 'update options set reserved = on_hand + 1'],
    ['options_never_oversold', 'update options set on_hand = reserved - 1'],
    ['options_never_oversold', 'update options set reserved = -1'],
    ['options_price', 'update options set price = -1'],
    ['wallets_balance', 'update wallets set balance = -1'],
    ['wallets_balance', 'update wallets set balance = 9007199254740992'],
    ['points_ledger_charge_limit', `update points_ledger set balance = 10000001 where kind = 'CHARGE'`],
    ['orders_ended_at', `update orders set ended_at = now() where status = 'PAID'`],
    [
      'points_ledger_once',
      'insert into points_ledger (user_id, kind, amount, balance, order_id) select user_id, kind, amount, balance, order_id from points_ledger',
    ],
    ['points_ledger_sign', `update points_ledger set amount = -amount where kind = 'SPEND'`],
    [
      'payments_once',
      'insert into payments (id, order_id, method, amount) select gen_random_uuid(), order_id, method, amount from payments',
    ],
    ['orders_status', `update orders set status = 'LOST' where paid_at is null`],
    ['orders_total', 'update orders set total = total - 1'],
    ['orders_discount', `update orders set discount = subtotal + 1, total = -1, user_coupon_id = gen_random_uuid()`],
    ['orders_paid_at', `update orders set paid_at = null`],
    ['order_items_quantity', 'update order_items set quantity = 1001'],
    [
      'order_items_pkey',
      'insert into order_items (order_id, option_id, name, price, quantity) select order_id, option_id, name, price, quantity from order_items',
    ],
    [
      'order_events_pkey',
      'insert into order_events (order_id, seq, type, data) select order_id, seq, type, data from order_events',
    ],
  ])('has the last word: %s', async (constraint, statement) => {
    await expect(database.query(statement)).rejects.toMatchObject({ constraint });
  });
});
