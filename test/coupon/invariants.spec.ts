import { nothingLeftPrepared } from '@firstcome/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { invariants } from '../../apps/coupon/src/invariants.js';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createCoupon, grab } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let coupon: RunningApp;
let couponId: number;

beforeAll(async () => {
  database = await createTestDatabase();
  coupon = await startCoupon({ COUPON_DATABASE_URL: database.url });
});
afterAll(async () => {
  await coupon?.close();
  await database?.drop();
});
beforeEach(async () => {
  await database.query('delete from user_coupons');
  await database.query('delete from idempotency_keys');
  await database.query('delete from tickets');
  await database.query('delete from coupons');
  couponId = await createCoupon(coupon.url, { total: 3 });
  for (const user of ['ann', 'ben']) await grab(coupon.url, couponId, user, { key: 'key' });
});

async function report() {
  const token = await tokenFor('admin', { role: 'admin' });
  const { status, json } = await call(coupon.url, 'GET', '/v1/lab/invariants', { token });
  expect(status).toBe(200);
  return json as { ok: boolean; invariants: { id: string; name: string; breaches: number }[] };
}

// One row changed behind the application's back; the constraints in its way are dropped first, as a bug in a migration would.
const tamperings: [name: string, statements: string[]][] = [
  ['issued = count of user coupons <= total', ['update coupons set issued = issued + 1']],
  [
    'issued = count of user coupons <= total',
    ['alter table coupons drop constraint coupons_never_oversold', 'update coupons set total = 1'],
  ],
  [
    'nobody above the per-user limit',
    ['alter table user_coupons drop constraint user_coupons_nth_once', `update user_coupons set user_id = 'ann'`],
  ],
  ['serials 1..issued without gaps', ['update user_coupons set serial = 3 where serial = 2']],
  [
    'serials 1..issued without gaps',
    ['alter table user_coupons drop constraint user_coupons_serial_once', 'update user_coupons set serial = 1'],
  ],
  [
    'a reserved or used user coupon is in the one live order that it names, no other is in any',
    [`update user_coupons set status = 'USED', order_id = '01980000-0000-7000-8000-000000000000' where serial = 1`],
  ],
  [
    'a reserved or used user coupon is in the one live order that it names, no other is in any',
    [
      `insert into coupon_uses select id, '01980000-0000-7000-8000-000000000000', 'RESERVED', 0 from user_coupons where serial = 1`,
    ],
  ],
  [
    'an idempotency key has at most one effect: the user coupon that its stored answer names, and no other key does',
    [`update idempotency_keys set body = (select min(body) from idempotency_keys)`],
  ],
  [
    'an idempotency key has at most one effect: the user coupon that its stored answer names, and no other key does',
    ['delete from user_coupons where serial = 2'],
  ],
  [
    'what a ticket tells was issued is there',
    [
      `insert into tickets (id, line, user_id, asked, trace_id, status, body, done_at)
       values (gen_random_uuid(), 'coupon:1', 'ann', '{}', 't', 201, '{"userCouponId":"01980000-0000-7000-8000-000000000000"}', now())`,
    ],
  ],
  ...['fence', 'redlock_fence'].map((column): [string, string[]] => [
    'the guard refuses a lower fence, of either store',
    [
      `create or replace function forget() returns trigger language plpgsql as $$ begin new.${column} = 0; return new; end $$`,
      'create or replace trigger forget before insert on coupons for each row execute function forget()',
    ],
  ]),
];

describe('the invariants of the coupon database', () => {
  it('hold after ordinary work', async () => {
    expect(await report()).toMatchObject({ ok: true });
  });

  it('have a tampering each below, so none is blind', () => {
    // How long something has been prepared cannot be changed: that one is tried in transactions.spec.ts.
    const others = invariants.filter(({ name }) => name !== nothingLeftPrepared.name);
    expect(new Set(tamperings.map(([name]) => name))).toEqual(new Set(others.map(({ name }) => name)));
  });

  it.each(tamperings)('%s: turns red', async (name, statements) => {
    for (const statement of statements) await database.query(statement);
    const coupons = await database.query('select id from coupons');
    const { ok, invariants: checked } = await report();
    expect(ok).toBe(false);
    expect(checked.filter(({ breaches }) => breaches > 0).map((each) => each.name)).toContain(name);
    await database.query('drop trigger if exists forget on coupons');
    // What an invariant attempts is undone.
    expect(await database.query('select id from coupons')).toEqual(coupons);
  });
});
