import { LockService } from '@firstcome/lock/nest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import type { Call, Reply } from '../support/client.js';
import { call } from '../support/client.js';
import { createCoupon, grab, outcomes } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';

let database: TestDatabase;
let one: RunningApp;

beforeAll(async () => {
  database = await createTestDatabase();
  one = await startCoupon({ COUPON_DATABASE_URL: database.url });
});
afterAll(async () => {
  await one?.close();
  await database?.drop();
});

const waiting = () => one.app.get(LockService).stats().waiters;

/** Sends one after the other, each once the one before it waits: the order of arrival is known, and they are one batch. */
async function inOneBatch(couponId: number, users: string[], options: (place: number) => Call = () => ({})) {
  const lease = await one.app.get(LockService).acquire(`coupon:issue:${couponId}`);
  const sent: Promise<Reply>[] = [];
  for (const [place, user] of users.entries()) {
    const before = waiting();
    sent.push(grab(one.url, couponId, user, options(place)));
    while (waiting() === before) await new Promise(setImmediate);
  }
  await lease.release();
  return Promise.all(sent);
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `user-${index}`);
const serialsOf = (replies: Reply[]) => replies.map(({ json }) => json.serial as number);

describe('a batch', () => {
  it('serves in the order of arrival, and one transaction serves them all', async () => {
    const couponId = await createCoupon(one.url);
    const replies = await inOneBatch(couponId, names(40));
    expect(serialsOf(replies)).toEqual(names(40).map((_, index) => index + 1));
    const rows = await database.query('select distinct xmin::text from user_coupons where coupon_id = $1', [couponId]);
    expect(rows).toHaveLength(1);
  });

  it('says to each what is stored for it: user, serial, id and times', async () => {
    const couponId = await createCoupon(one.url, { validDays: 3 });
    for (const { status, json } of await inOneBatch(couponId, names(5))) {
      expect(status).toBe(201);
      const [row] = await database.query<{ user_id: string; serial: number; issued_at: Date; expires_at: Date }>(
        'select user_id, serial, issued_at, expires_at from user_coupons where id = $1',
        [json.userCouponId],
      );
      expect(json).toEqual({
        userCouponId: json.userCouponId,
        couponId,
        userId: row!.user_id,
        serial: row!.serial,
        status: 'ISSUED',
        issuedAt: row!.issued_at.toISOString(),
        expiresAt: row!.expires_at.toISOString(),
      });
    }
  });

  it('ends with the last coupon: those who came first have one, the others are told that it is sold out', async () => {
    const couponId = await createCoupon(one.url, { total: 3 });
    await grab(one.url, couponId, 'early');
    const replies = await inOneBatch(couponId, ['early', 'ann', 'ann', 'ben', 'eve', 'eve', 'ben']);
    expect(replies.map(({ status, json }) => (status === 201 ? json.serial : json.code))).toEqual([
      'COUPON_ALREADY_ISSUED',
      2,
      'COUPON_ALREADY_ISSUED',
      3,
      'COUPON_SOLD_OUT',
      'COUPON_SOLD_OUT',
      'COUPON_ALREADY_ISSUED',
    ]);
    expect(replies[2]!.json.userCouponId).toBe(replies[1]!.json.userCouponId);
    expect(replies[6]!.json.userCouponId).toBe(replies[3]!.json.userCouponId);
  });

  it('gives a user up to the limit, also across batches', async () => {
    const couponId = await createCoupon(one.url, { perUserLimit: 3 });
    await grab(one.url, couponId, 'ann');
    const replies = await inOneBatch(couponId, ['ann', 'ann', 'ann', 'ben']);
    expect(outcomes(replies)).toEqual({ '201': 3, '409 COUPON_ALREADY_ISSUED': 1 });
    expect(replies[2]!.json.userCouponId).toBe(replies[1]!.json.userCouponId);
  });

  it('of a coupon that is paused, or absent, says so to everybody', async () => {
    const couponId = await createCoupon(one.url);
    await database.query('update coupons set paused = true where id = $1', [couponId]);
    expect(outcomes(await inOneBatch(couponId, names(3)))).toEqual({ '409 COUPON_PAUSED': 3 });
    expect(outcomes(await inOneBatch(999_999_999, names(2)))).toEqual({ '404 COUPON_NOT_FOUND': 2 });
  });

  it('decides keys once: copies in it, copies after it, and refusals too', async () => {
    const couponId = await createCoupon(one.url, { total: 2 });
    const users = ['ann', 'ann', 'ben', 'eve', 'eve'];
    const keys = ['a', 'a', undefined, 'e', 'e'];
    const replies = await inOneBatch(couponId, users, (place) => ({ key: keys[place] }));
    expect(outcomes(replies)).toEqual({ '201': 3, '409 COUPON_SOLD_OUT': 2 });
    const [ann, copy, ben, eve, again] = replies as [Reply, Reply, Reply, Reply, Reply];
    expect([copy.text, again.text]).toEqual([ann.text, eve.text]);
    expect(replies.map(({ headers }) => headers['idempotency-replayed'])).toEqual([
      undefined,
      'true',
      undefined,
      undefined,
      'true',
    ]);
    expect(ben.json.serial).toBe(2);
    for (const [user, key, first] of [
      ['ann', 'a', ann],
      ['eve', 'e', eve],
    ] as const) {
      expect((await grab(one.url, couponId, user, { key })).text).toBe(first.text);
    }
  });

  it('that the database refuses is done again one by one: nobody else pays for it, and it is counted', async () => {
    const couponId = await createCoupon(one.url);
    await database.query(`create or replace function poison() returns trigger language plpgsql as $$ begin
      if new.user_id = 'poison' then
        raise unique_violation using constraint = 'user_coupons_serial_once', message = 'poisoned';
      end if; return new; end $$`);
    await database.query('create trigger poison before insert on user_coupons for each row execute function poison()');
    const replies = await inOneBatch(couponId, ['ann', 'poison', 'ben']);
    await database.query('drop trigger poison on user_coupons');
    expect(replies.map(({ status }) => status)).toEqual([201, 500, 201]);
    expect([replies[0]!.json.serial, replies[2]!.json.serial]).toEqual([1, 2]);
    const { text } = await call(one.url, 'GET', '/metrics');
    expect(text).toMatch(/^firstcome_safety_net_trips_total\{strategy="batched"\} 2$/m);
  });

  it('raises its counter above a fence that it does not know, and serves the same callers', async () => {
    const couponId = await createCoupon(one.url);
    await database.query('update coupons set fence = $2 where id = $1', [couponId, Date.now() * 1000 + 3_600_000_000]);
    expect(serialsOf(await inOneBatch(couponId, names(3)))).toEqual([1, 2, 3]);
  });

  it('reports the wait, the hold and the database to each of its requests', async () => {
    const couponId = await createCoupon(one.url);
    for (const { headers } of await inOneBatch(couponId, names(3))) {
      expect(headers['server-timing']).toMatch(
        /^lock;dur=(?!0\.0,)[\d.]+, hold;dur=(?!0\.0,)[\d.]+, db;dur=(?!0\.0$)[\d.]+$/,
      );
    }
  });
});

describe('after the last coupon', () => {
  it('the answer needs no lock, and is right again as soon as the total is raised', async () => {
    const couponId = await createCoupon(one.url, { total: 1 });
    await grab(one.url, couponId, 'ann');
    expect((await grab(one.url, couponId, 'ben')).json.code).toBe('COUPON_SOLD_OUT');
    const lease = await one.app.get(LockService).acquire(`coupon:issue:${couponId}`);
    const replies = await Promise.all(['ann', 'ben', 'eve'].map((user) => grab(one.url, couponId, user)));
    expect(outcomes(replies)).toEqual({ '409 COUPON_ALREADY_ISSUED': 1, '409 COUPON_SOLD_OUT': 2 });
    const keyed = await grab(one.url, couponId, 'ben', { key: 'k' });
    expect(keyed.json.code).toBe('COUPON_SOLD_OUT');
    await lease.release();
    await database.query('update coupons set total = 2 where id = $1', [couponId]);
    expect((await grab(one.url, couponId, 'ben', { key: 'k' })).text).toBe(keyed.text);
    expect((await grab(one.url, couponId, 'ben')).json.serial).toBe(2);
  });
});
