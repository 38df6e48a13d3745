import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueStrategyNames } from '../../apps/coupon/src/issuance/strategy.js';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { barrier } from '../support/barrier.js';
import { call } from '../support/client.js';
import { createCoupon, grab, outcomes } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import { untilFinal } from '../support/orders.js';
import type { TestDatabase } from '../support/database.js';
import { tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let instances: [RunningApp, RunningApp];

beforeAll(async () => {
  database = await createTestDatabase();
  const overrides = { COUPON_DATABASE_URL: database.url };
  instances = [await startCoupon(overrides), await startCoupon(overrides)];
});
afterAll(async () => {
  await Promise.all((instances ?? []).map((instance) => instance.close()));
  await database?.drop();
});

// 400 users are a second's work for an idle machine, and much more for a busy one.
const aCrowdMs = 240_000;

describe('the strategy none', () => {
  const headers = { 'x-issue-strategy': 'none' };

  it(
    'gives 400 users over two instances more than the 100 coupons there are, so the races below are races',
    async () => {
      const couponId = await createCoupon(instances[0].url);
      const replies = await Promise.all(
        Array.from({ length: 400 }, (_, index) =>
          untilFinal(() => grab(instances[index % 2]!.url, couponId, `user-${index}`, { headers })),
        ),
      );
      const issued = replies.filter(({ status }) => status === 201);
      expect(issued.length).toBeGreaterThan(100);
      expect(new Set(issued.map(({ json }) => json.serial as number)).size).toBeLessThan(issued.length);
      const rows = 'select from lab_user_coupons where coupon_id = $1';
      expect(await database.query(rows, [couponId])).toHaveLength(issued.length);
    },
    aCrowdMs,
  );

  it('shows none of it to anybody: the coupon is untouched, and nobody has one', async () => {
    const couponId = await createCoupon(instances[0].url);
    const { json } = await untilFinal(() => grab(instances[0].url, couponId, 'unseen', { headers, key: 'k' }));
    expect(json).toMatchObject({ couponId, userId: 'unseen', serial: 1, status: 'ISSUED' });
    expect((await grab(instances[1].url, couponId, 'unseen', { headers })).json).toMatchObject({
      code: 'COUPON_ALREADY_ISSUED',
      userCouponId: json.userCouponId,
    });
    expect((await call(instances[1].url, 'GET', `/v1/coupons/${couponId}`)).json).toMatchObject({ issued: 0 });
    const token = await tokenFor('unseen');
    expect((await call(instances[1].url, 'GET', '/v1/me/coupons', { token })).json.items).toEqual([]);
  });
});

const guarded = issueStrategyNames.filter((name) => name !== 'none');

describe.each(guarded)('the strategy %s', (strategy) => {
  const headers = { 'x-issue-strategy': strategy };

  it(
    'gives 400 users over two instances exactly the 100 coupons there are, serials 1 to 100',
    async () => {
      const couponId = await createCoupon(instances[0].url);
      const everybodyIsHere = barrier(400);
      const replies = await Promise.all(
        Array.from({ length: 400 }, async (_, index) => {
          await everybodyIsHere();
          // Contention is no answer: a good client repeats until it has one.
          return untilFinal(() => grab(instances[index % 2]!.url, couponId, `user-${index}`, { headers }));
        }),
      );
      expect(outcomes(replies)).toEqual({ '201': 100, '409 COUPON_SOLD_OUT': 300 });

      const told = replies.filter(({ status }) => status === 201).map(({ json }) => json);
      const serials = told.map(({ serial }) => serial as number);
      expect(serials.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
      const stored = await database.query<{ id: string; user_id: string; serial: number }>(
        'select id, user_id, serial from user_coupons where coupon_id = $1',
        [couponId],
      );
      const facts = (rows: { id: string; user: string; serial: number }[]) =>
        rows.map(({ id, user, serial }) => `${serial} ${user} ${id}`).toSorted();
      expect(facts(told.map(({ userCouponId: id, userId: user, serial }) => ({ id, user, serial })))).toEqual(
        facts(stored.map(({ user_id: user, ...row }) => ({ ...row, user }))),
      );
    },
    aCrowdMs,
  );

  it('gives 50 copies of one user one coupon, and every refusal names it', async () => {
    const couponId = await createCoupon(instances[0].url);
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        untilFinal(() => grab(instances[index % 2]!.url, couponId, 'eager', { headers })),
      ),
    );
    expect(outcomes(replies)).toEqual({ '201': 1, '409 COUPON_ALREADY_ISSUED': 49 });
    expect(new Set(replies.map(({ json }) => json.userCouponId)).size).toBe(1);
  });

  it('gives a user who may have three of them three, whatever the copies do', async () => {
    const couponId = await createCoupon(instances[0].url, { perUserLimit: 3 });
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) => grab(instances[index % 2]!.url, couponId, 'eager', { headers })),
    );
    const told = outcomes(replies);
    expect(told['201']).toBe(3);
    const [stored] = await database.query<{ held: number }>(
      'select count(*)::int as held from user_coupons where coupon_id = $1',
      [couponId],
    );
    expect(stored?.held).toBe(3);
    // A copy that was overtaken each time it looked is told to come back, never that it has too many.
    expect((told['409 COUPON_ALREADY_ISSUED'] ?? 0) + (told['409 CONCURRENT_UPDATE'] ?? 0)).toBe(9);
  });

  it('decides 20 copies of one key once', async () => {
    const couponId = await createCoupon(instances[0].url);
    const copy = (index: number) => grab(instances[index % 2]!.url, couponId, 'sure', { headers, key: 'one-key' });
    const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => copy(index)));
    const created = replies.filter(({ status }) => status === 201);
    const others = replies.filter(({ status }) => status !== 201);
    expect(created.length).toBeGreaterThan(0);
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    for (const { json } of others) expect(json.code).toBe('IDEMPOTENCY_IN_PROGRESS');
    expect((await copy(0)).text).toBe(created[0]!.text);
  });
});

describe('two copies of one user that both looked before either wrote', () => {
  it('get one coupon: the second is refused by the constraint, looks again, and names the first', async () => {
    const couponId = await createCoupon(instances[0].url);
    const row = await database.hold('select from coupons where id = $1 for update', [couponId]);
    const copies = instances.map((instance) =>
      grab(instance.url, couponId, 'eager', { headers: { 'x-issue-strategy': 'atomic' } }),
    );
    await database.untilBlocked(2);
    await row.letGo();
    const replies = await Promise.all(copies);
    expect(outcomes(replies)).toEqual({ '201': 1, '409 COUPON_ALREADY_ISSUED': 1 });
    expect(new Set(replies.map(({ json }) => json.userCouponId)).size).toBe(1);
  });
});

describe('after all of these races', () => {
  it('every invariant holds, and no rule of the database had to act', async () => {
    const token = await tokenFor('admin', { role: 'admin' });
    const { json } = await call(instances[0].url, 'GET', '/v1/lab/invariants', { token });
    expect(json.invariants.filter(({ breaches }: { breaches: number }) => breaches > 0)).toEqual([]);
    const { text } = await call(instances[0].url, 'GET', '/metrics');
    expect(text.split('\n').filter((line) => line.startsWith('firstcome_safety_net_trips_total{'))).toEqual([]);
  });
});
