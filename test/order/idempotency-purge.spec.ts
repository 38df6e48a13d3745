import { purgeAnswers } from '@firstcome/http';
import { LockService } from '@firstcome/lock/nest';
import { Database } from '@firstcome/postgres';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { IdempotencyPurgeJob } from '../../apps/order/src/idempotency-purge.job.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import type { TestDatabase } from '../support/database.js';
import { charge, createOptions, itemsOf, order } from '../support/orders.js';
import { openShops } from '../support/shops.js';
import { tokenFor } from '../support/tokens.js';

const dayMs = 86_400_000;
let database: TestDatabase;
let shop: RunningApp;
let other: RunningApp;
let option: number;

beforeAll(async () => {
  const opened = await openShops();
  ({ database, shop, other } = opened);
  return opened.close;
});
beforeEach(async () => {
  for (const table of ['idempotency_keys', 'idempotency_purges', 'tickets'])
    await database.query(`delete from ${table}`);
  await database.query('truncate orders, points_ledger, wallets, options, products cascade');
  [option] = await createOptions(shop.url, { price: 100, stock: 100 });
});

const buy = (key: string) => order(shop.url, 'ann', itemsOf({ [option]: 1 }), { key });
/** Everything there is happened that much earlier. */
async function age(hours: number): Promise<void> {
  for (const table of ['idempotency_keys', 'orders', 'points_ledger']) {
    await database.query(`update ${table} set created_at = created_at - make_interval(hours => ${hours})`);
  }
  await database.query(
    `update tickets set created_at = created_at - make_interval(hours => ${hours}), done_at = done_at - make_interval(hours => ${hours})`,
  );
}
const kept = async () => (await database.query<{ n: number }>('select count(*)::int as n from idempotency_keys'))[0]!.n;
const run = ({ app }: RunningApp) => app.get(IdempotencyPurgeJob).run();
const breaches = async () => {
  const token = await tokenFor('admin', { role: 'admin' });
  const { json } = await call(shop.url, 'GET', '/v1/lab/invariants', { token });
  const checked: { id: string; breaches: number }[] = json.invariants;
  return checked.filter((each) => each.breaches > 0).map(({ id }) => id);
};
/** A ticket that no worker claims, and the key under which it was accepted, stored together as the application does. */
const addTicket = (done: boolean) =>
  database.query(
    `with ticket as (
       insert into tickets (id, line, user_id, asked, trace_id, due_at, status, body, done_at)
       values (gen_random_uuid(), 'orders', 'ann', '{}', 't', 'infinity', $1::int, $2::text,
               case when $1::int is null then null else now() end)
       returning id
     )
     insert into idempotency_keys (id, fingerprint, status, body)
     select sha256(id::text::bytea), '', 202, json_build_object('ticketId', id)::text from ticket`,
    done ? [201, '{}'] : [null, null],
  );

describe('a key that is older than IDEMPOTENCY_TTL_MS', () => {
  it('keeps a key that is in progress, however long: only the recovery knows how that ends', async () => {
    await database.query(`insert into idempotency_keys (id, fingerprint) values (sha256('begun'), '')`);
    await age(50);
    expect((await run(shop)).keys).toBe(0);
    expect(await kept()).toBe(1);
  });

  it('is forgotten, and no younger one: until then the same key replays, after it the request is a new one', async () => {
    const first = await buy('old');
    await age(23);
    expect(await run(shop)).toEqual({ keys: 0, tickets: 0 });
    expect((await buy('old')).text).toBe(first.text);
    await age(2);
    const young = await buy('young');
    expect(await run(shop)).toEqual({ keys: 1, tickets: 0 });
    expect((await buy('young')).text).toBe(young.text);
    const anew = await buy('old');
    expect([anew.status, anew.headers['idempotency-replayed']]).toEqual([201, undefined]);
    expect(anew.json.orderId).not.toBe(first.json.orderId);
  });

  it('goes in batches of a bounded size, to the last', async () => {
    for (let at = 0; at < 25; at++) await charge(shop.url, 'ann', 10);
    await age(25);
    await charge(shop.url, 'ann', 10);
    expect(await purgeAnswers(shop.app.get(Database), dayMs, 10)).toEqual({ keys: 25, tickets: 0 });
    expect(await kept()).toBe(1);
  });

  it('is looked for by one instance at a time: the others do not even wait', async () => {
    await buy('old');
    await age(25);
    const lease = await other.app.get(LockService).acquire('job:order-idempotency-purge');
    expect(await run(shop)).toBeUndefined();
    expect(await kept()).toBe(1);
    await lease.release();
    expect(await run(shop)).toEqual({ keys: 1, tickets: 0 });
  });

  it('stays while a ticket waits that was accepted with it or before it: it is in progress', async () => {
    await buy('before');
    await age(1);
    await addTicket(false);
    await buy('after');
    await age(30);
    expect(await run(shop)).toEqual({ keys: 1, tickets: 0 });
    expect(await kept()).toBe(2);
    await database.query(`update tickets set status = 201, body = '{}', done_at = now()`);
    expect(await run(shop)).toEqual({ keys: 2, tickets: 0 });
  });

  it('takes with it the tickets that are done as long, and none that waits', async () => {
    await addTicket(true);
    await age(25);
    await addTicket(true);
    await addTicket(false);
    expect(await run(shop)).toEqual({ keys: 1, tickets: 1 });
    expect(await database.query('select from tickets')).toHaveLength(2);
  });
});

describe('I8', () => {
  it('holds after a purge, and still finds an effect without an answer among those that are kept', async () => {
    await charge(shop.url, 'ann', 1000);
    await buy('old');
    await age(25);
    expect(await run(shop)).toEqual({ keys: 2, tickets: 0 });
    expect(await breaches()).toEqual([]);
    await buy('young');
    expect(await breaches()).toEqual([]);
    await database.query('delete from idempotency_keys');
    expect(await breaches()).toEqual(['I8']);
  });
});
