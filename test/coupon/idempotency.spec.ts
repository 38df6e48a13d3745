import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { createCoupon, grab } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';

let database: TestDatabase;
let one: RunningApp;
let other: RunningApp;

beforeAll(async () => {
  database = await createTestDatabase();
  one = await startCoupon({ COUPON_DATABASE_URL: database.url });
  other = await startCoupon({ COUPON_DATABASE_URL: database.url });
});
afterAll(async () => {
  await one?.close();
  await other?.close();
  await database?.drop();
});

describe('an Idempotency-Key on the grab', () => {
  it('replays a 201 byte for byte on any instance, and says so', async () => {
    const couponId = await createCoupon(one.url);
    const first = await grab(one.url, couponId, 'ann', { key: 'k1' });
    const again = await grab(other.url, couponId, 'ann', { key: 'k1', body: {} });
    expect(first.status).toBe(201);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect([again.status, again.text, again.headers['content-type']]).toEqual([
      201,
      first.text,
      first.headers['content-type'],
    ]);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });

  it('replays a final refusal too, even after the world has changed', async () => {
    const couponId = await createCoupon(one.url, { total: 1 });
    await grab(one.url, couponId, 'first');
    const refused = await grab(one.url, couponId, 'late', { key: 'k1' });
    expect(refused.json.code).toBe('COUPON_SOLD_OUT');
    await database.query('update coupons set total = 2 where id = $1', [couponId]);
    const again = await grab(other.url, couponId, 'late', { key: 'k1' });
    expect([again.status, again.text, again.headers['content-type']]).toEqual([
      409,
      refused.text,
      refused.headers['content-type'],
    ]);
    expect((await grab(one.url, couponId, 'late', { key: 'k2' })).status).toBe(201);
  });

  it('is looked up before anything else can refuse: the coupon may be sold out by then', async () => {
    const couponId = await createCoupon(one.url, { total: 1 });
    const first = await grab(one.url, couponId, 'ann', { key: 'k1' });
    expect((await grab(one.url, couponId, 'ben')).json.code).toBe('COUPON_SOLD_OUT');
    expect((await grab(one.url, couponId, 'ann', { key: 'k1' })).text).toBe(first.text);
  });

  it('belongs to one user and one coupon', async () => {
    const [a, b] = [await createCoupon(one.url), await createCoupon(one.url)];
    const replies = [
      await grab(one.url, a, 'ann', { key: 'same' }),
      await grab(one.url, a, 'ben', { key: 'same' }),
      await grab(one.url, b, 'ann', { key: 'same' }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(replies.every(({ headers }) => headers['idempotency-replayed'] === undefined)).toBe(true);
  });

  it('is refused for another query', async () => {
    const couponId = await createCoupon(one.url);
    await grab(one.url, couponId, 'ann', { key: 'k1' });
    // The grab takes neither fields nor a query, so only a row from elsewhere can differ.
    await database.query(`update idempotency_keys set fingerprint = 'another'`);
    const reused = await grab(one.url, couponId, 'ann', { key: 'k1' });
    expect([reused.status, reused.json.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('in progress elsewhere is 409 with Retry-After, and nothing happens', async () => {
    const couponId = await createCoupon(one.url);
    // Another session holds the coupon's row: the first request has claimed its key and waits for the row.
    const row = await database.hold('select from coupons where id = $1 for update', [couponId]);
    // Without a lock before the transaction, so that both get as far as the key.
    const sent = { key: 'k1', headers: { 'x-issue-strategy': 'atomic' } };
    const first = grab(one.url, couponId, 'ann', sent);
    await database.untilBlocked(1);
    const second = await grab(other.url, couponId, 'ann', sent);
    expect([second.status, second.json.code, second.json.retryable]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS', true]);
    expect(Number(second.headers['retry-after'])).toBeGreaterThan(0);
    await row.letGo();
    expect((await first).status).toBe(201);
  });
});
