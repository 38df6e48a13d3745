import { Database, nothingLeftPrepared } from '@firstcome/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createCoupon, grab, outcomes } from '../support/coupons.js';
import type { NewCoupon } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { endPrepared, preparedIn } from '../support/prepared.js';
import { privatePostgres } from '../support/private-postgres.js';
import { serviceToken, tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let coupon: RunningApp;
let ids = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  coupon = await startCoupon({ COUPON_DATABASE_URL: database.url });
});
afterAll(async () => {
  await coupon?.close();
  if (database) await endPrepared(database);
  await database?.drop();
});

const anId = () => `01980000-0000-7000-9000-${String((ids += 1)).padStart(12, '0')}`;
// A name is one of the whole server, so it must be this run's own.
const aGid = () => `spec-${process.pid}-${Date.now()}-${(ids += 1)}`;

async function aUserCoupon(rules: NewCoupon = {}): Promise<string> {
  const { json } = await grab(coupon.url, await createCoupon(coupon.url, rules), 'ann');
  return json.userCouponId as string;
}

const post = (path: string, body?: object) => call(coupon.url, 'POST', path, { token: serviceToken, body });
const step = (name: 'prepare' | 'commit' | 'rollback') => (gid: string, body?: object) =>
  post(`/internal/v1/transactions/${gid}/${name}`, body);
const [prepare, commit, rollback] = [step('prepare'), step('commit'), step('rollback')];
const wanting = (userCouponId: string, more: object = {}) => ({
  userCouponId,
  orderId: anId(),
  userId: 'ann',
  subtotal: 1000,
  ...more,
});
const statusOf = async (id: string) =>
  (await database.query<{ status: string }>('select status from user_coupons where id = $1', [id]))[0]!.status;
const usesOf = async (id: string) =>
  (await database.query<{ state: string }>('select state from coupon_uses where user_coupon_id = $1', [id])).map(
    ({ state }) => state,
  );

describe('the coupon’s half of an order', () => {
  it('is prepared, seen by nobody, and there with its commit; each step answers its repetition alike', async () => {
    const [id, gid] = [await aUserCoupon({ discount: { type: 'PERCENT', value: 15 } }), aGid()];
    const wish = wanting(id, { subtotal: 999 });
    const prepared = await prepare(gid, wish);
    expect([prepared.status, prepared.json]).toMatchObject([200, { status: 'RESERVED', discount: 149 }]);
    expect(await preparedIn(database)).toEqual([gid]);
    expect([await statusOf(id), await usesOf(id)]).toEqual(['ISSUED', []]);
    expect((await prepare(gid, wish)).text).toBe(prepared.text);
    expect(await preparedIn(database)).toEqual([gid]);

    const committed = await commit(gid);
    expect([committed.status, committed.json]).toEqual([200, { gid, outcome: 'COMMITTED' }]);
    expect([await statusOf(id), await usesOf(id), await preparedIn(database)]).toEqual(['RESERVED', ['RESERVED'], []]);
    expect((await commit(gid)).text).toBe(committed.text);
    expect((await prepare(gid, wish)).text).toBe(prepared.text);
    expect([await usesOf(id), await preparedIn(database)]).toEqual([['RESERVED'], []]);
    const confirmed = await post(`/internal/v1/user-coupons/${id}/confirm`, { orderId: wish.orderId });
    expect(confirmed.json).toMatchObject({ status: 'USED', discount: 149 });
  });

  it('is undone by its rollback, which answers its repetition alike, and the coupon serves another order', async () => {
    const [id, gid, next] = [await aUserCoupon(), aGid(), aGid()];
    expect((await prepare(gid, wanting(id))).status).toBe(200);
    const undone = await rollback(gid);
    expect([undone.status, undone.json]).toEqual([200, { gid, outcome: 'ROLLED_BACK' }]);
    expect((await rollback(gid)).text).toBe(undone.text);
    expect([await statusOf(id), await usesOf(id), await preparedIn(database)]).toEqual(['ISSUED', [], []]);
    expect((await prepare(next, wanting(id))).status).toBe(200);
    expect((await commit(next)).status).toBe(200);
  });

  it('of an order that is paid at once is used with its commit', async () => {
    const [id, gid] = [await aUserCoupon(), aGid()];
    const prepared = await prepare(gid, wanting(id, { pay: true }));
    expect(prepared.json).toMatchObject({ status: 'USED', discount: 10 });
    expect((await prepare(gid, wanting(id, { pay: true }))).json).toMatchObject({ status: 'USED', discount: 10 });
    await commit(gid);
    expect([await statusOf(id), await usesOf(id)]).toEqual(['USED', ['CONFIRMED']]);
  });

  it('is never prepared after its rollback, which also ends what nobody has heard of', async () => {
    const [id, gid] = [await aUserCoupon(), aGid()];
    expect((await rollback(gid)).status).toBe(200);
    const late = await prepare(gid, wanting(id));
    expect([late.status, late.json.code]).toEqual([409, 'COUPON_NOT_USABLE']);
    expect([await statusOf(id), await preparedIn(database)]).toEqual(['ISSUED', []]);
  });

  it('takes nothing when its rollback arrives while it is on the way', async () => {
    const [id, gid] = [await aUserCoupon(), aGid()];
    const row = await database.hold('select from user_coupons where id = $1 for update', [id]);
    const late = prepare(gid, wanting(id));
    await database.untilBlocked(1);
    expect((await rollback(gid)).status).toBe(200);
    await row.letGo();
    // Refused, or told of the row that was held for too long: it is the same to the coupon.
    expect(['COUPON_NOT_USABLE', 'CONCURRENT_UPDATE']).toContain((await late).json.code);
    expect([await statusOf(id), await usesOf(id), await preparedIn(database)]).toEqual(['ISSUED', [], []]);
  });

  it('is decided once: what was rolled back is not committed, what was committed is not rolled back', async () => {
    const [gone, there] = [aGid(), aGid()];
    await rollback(gone);
    const late = await commit(gone);
    expect([late.status, late.json.code, late.json.outcome]).toEqual([409, 'TRANSACTION_DECIDED', 'ROLLED_BACK']);
    await prepare(there, wanting(await aUserCoupon()));
    await commit(there);
    const undone = await rollback(there);
    expect([undone.status, undone.json.code, undone.json.outcome]).toEqual([409, 'TRANSACTION_DECIDED', 'COMMITTED']);
    const unheard = await commit(aGid());
    expect([unheard.status, unheard.json.code]).toEqual([404, 'TRANSACTION_NOT_FOUND']);
  });

  it('is refused as a reservation is, and then nothing is prepared', async () => {
    const told = async (wish: object) => {
      const { status, json } = await prepare(aGid(), wish);
      return [status, json.code];
    };
    const [costly, used] = [await aUserCoupon({ minOrder: 1001 }), await aUserCoupon()];
    await post(`/internal/v1/user-coupons/${used}/reserve`, { orderId: anId(), userId: 'ann', subtotal: 1000 });
    expect(await told(wanting(anId()))).toEqual([404, 'USER_COUPON_NOT_FOUND']);
    expect(await told(wanting(used, { userId: 'ben' }))).toEqual([404, 'USER_COUPON_NOT_FOUND']);
    expect(await told(wanting(used))).toEqual([409, 'COUPON_NOT_USABLE']);
    expect(await told(wanting(costly))).toEqual([422, 'MIN_ORDER_NOT_MET']);
    expect(await preparedIn(database)).toEqual([]);
  });

  it('is prepared once, when its request comes 20 times at once', async () => {
    const [id, gid] = [await aUserCoupon(), aGid()];
    const wish = wanting(id);
    const told = outcomes(await Promise.all(Array.from({ length: 20 }, () => prepare(gid, wish))));
    expect((told['200'] ?? 0) + (told['409 CONCURRENT_UPDATE'] ?? 0), JSON.stringify(told)).toBe(20);
    expect(told['200']).toBeGreaterThan(0);
    expect(await preparedIn(database)).toEqual([gid]);
    const ended = outcomes(await Promise.all(Array.from({ length: 20 }, () => commit(gid))));
    expect((ended['200'] ?? 0) + (ended['409 CONCURRENT_UPDATE'] ?? 0), JSON.stringify(ended)).toBe(20);
    expect((await commit(gid)).status).toBe(200);
    expect(await usesOf(id)).toEqual(['RESERVED']);
  });

  it('keeps its coupon to itself while it is in doubt: others are told of contention, and nobody hangs', async () => {
    const [id, gid] = [await aUserCoupon(), aGid()];
    await prepare(gid, wanting(id));
    const others = await Promise.all([1, 2, 3].map(() => prepare(aGid(), wanting(id))));
    for (const { status, json, headers } of others) {
      expect([status, json.code, json.retryable]).toEqual([409, 'CONCURRENT_UPDATE', true]);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    await commit(gid);
    expect((await prepare(aGid(), wanting(id))).json.code).toBe('COUPON_NOT_USABLE');
    expect(await preparedIn(database)).toEqual([]);
  });

  it('is a breach of the invariants when nobody ends it', async () => {
    const gid = aGid();
    await prepare(gid, wanting(await aUserCoupon()));
    const breaches = () =>
      database.query<{ gid: string }>(
        (nothingLeftPrepared as { text: string }).text.replace('30 seconds', '0 seconds'),
      );
    expect((await breaches()).map((row) => row.gid)).toEqual([gid]);
    await rollback(gid);
    expect(await breaches()).toEqual([]);
    const token = await tokenFor('admin', { role: 'admin' });
    const { json } = await call(coupon.url, 'GET', '/v1/lab/invariants', { token });
    expect(json.invariants.map(({ name }: { name: string }) => name)).toContain(nothingLeftPrepared.name);
    expect(json.invariants.filter(({ breaches: rows }: { breaches: number }) => rows > 0)).toEqual([]);
  });
});

describe('a PostgreSQL that takes no prepared transactions', () => {
  it('is DATABASE_UNAVAILABLE for a prepare, whose cause says what to set, and nothing else needs it', async () => {
    await using server = await privatePostgres({ max_prepared_transactions: '0' });
    await using alone = await startCoupon({ COUPON_DATABASE_URL: await server.database('coupon') });
    const { json } = await grab(alone.url, await createCoupon(alone.url), 'ann');
    const { userCouponId }: { userCouponId: string } = json;
    const path = (name: string) => `/internal/v1/transactions/${aGid()}/${name}`;
    const reply = await call(alone.url, 'POST', path('prepare'), { token: serviceToken, body: wanting(userCouponId) });
    expect([reply.status, reply.json.code, reply.json.retryable]).toEqual([503, 'DATABASE_UNAVAILABLE', true]);
    expect((await call(alone.url, 'POST', path('rollback'), { token: serviceToken })).status).toBe(200);
    const theirs = alone.app.get(Database);
    expect(await theirs.canPrepare()).toBe(false);
    const cause = theirs.transaction(() => Promise.resolve(1), { prepareAs: aGid });
    await expect(cause).rejects.toThrow(/set max_prepared_transactions/);
  });
});
