import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IssueTicketJob } from '../../apps/coupon/src/issue-ticket.job.js';
import { freePort, redisServerMissing, startRedisServer } from '../lock/support/redis-server.js';
import type { RedisServer } from '../lock/support/redis-server.js';
import { until } from '../lock/support/waiting.js';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createCoupon, grab, outcomes } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { absentOrderId as absentId, aUuid } from '../support/orders.js';
import { acceptedOf, resultOf, ticketOf, told } from '../support/tickets.js';
import type { Accepted } from '../support/tickets.js';
import { tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let coupon: RunningApp;
let redisPort: number;
let redis: RedisServer | undefined;

const start = (overrides: Record<string, string> = {}) =>
  startCoupon({
    COUPON_DATABASE_URL: database.url,
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    LOCK_BACKEND_DOWN: 'defer',
    ...overrides,
  });
const back = async () => (redis ??= await startRedisServer([], redisPort));
const away = async () => {
  await redis?.stop();
  redis = undefined;
};
/** One after the other, so that the order of their arrival is known. */
async function accept(couponId: number, users: string[], options = {}): Promise<Accepted[]> {
  const accepted = [];
  for (const user of users) accepted.push(acceptedOf(user, await grab(coupon.url, couponId, user, options)));
  return accepted;
}
const results = (accepted: Accepted[]) => Promise.all(accepted.map((each) => resultOf(coupon.url, each)));
const stored = (couponId: number) =>
  database.query<{ id: string; userId: string; serial: number }>(
    'select id, user_id as "userId", serial from user_coupons where coupon_id = $1 order by serial',
    [couponId],
  );
/** By coupons for which nobody waits. */
const untilRedisIsUsed = ({ url }: RunningApp) =>
  until('Redis is used', async () => (await grab(url, await createCoupon(url), 'probe')).status === 201);
const crowd = (size: number) => Array.from({ length: size }, (_, at) => `user-${at}`);

beforeAll(async () => {
  database = await createTestDatabase();
  redisPort = await freePort();
  coupon = await start();
});
afterAll(async () => {
  await coupon?.close();
  await away();
  await database?.drop();
});

describe.skipIf(redisServerMissing)('with LOCK_BACKEND_DOWN=defer, a grab while Redis is away', () => {
  it('is accepted: 202 with a ticket and where it is, which waits; and the instance is ready', async () => {
    await away();
    const couponId = await createCoupon(coupon.url);
    const reply = await grab(coupon.url, couponId, 'ann');
    expect([reply.status, reply.json]).toEqual([202, { ticketId: aUuid }]);
    expect(reply.headers.location).toBe(`/v1/me/tickets/${reply.json.ticketId}`);
    const ticket = await ticketOf(coupon.url, acceptedOf('ann', reply));
    expect([ticket.status, ticket.json]).toEqual([200, { status: 'WAITING' }]);
    expect((await call(coupon.url, 'GET', '/readyz')).status).toBe(200);
  });

  it('shows its ticket to nobody else: the 404 of an absent one, body for body', async () => {
    await away();
    const [accepted] = await accept(await createCoupon(coupon.url), ['ann']);
    const seen = async (ticketId: string) => {
      const { status, json } = await ticketOf(coupon.url, { user: 'ben', ticketId });
      const { traceId: _, ...document } = json;
      return [status, document];
    };
    expect(await seen(accepted!.ticketId)).toEqual(await seen(absentId));
    expect(await seen(absentId)).toMatchObject([404, { code: 'TICKET_NOT_FOUND', retryable: false }]);
  });

  it('that is decided already is refused at once, and has no ticket', async () => {
    await away();
    const token = await tokenFor('admin', { role: 'admin' });
    const [paused, future] = [
      await createCoupon(coupon.url),
      await createCoupon(coupon.url, { startsAt: new Date(Date.now() + 3_600_000).toISOString() }),
    ];
    await call(coupon.url, 'POST', `/v1/admin/coupons/${paused}/pause`, { token });
    const replies = [];
    for (const couponId of [999_999_999, paused, future]) {
      const reply = await grab(coupon.url, couponId, 'ann', { key: 'decided' });
      const again = await grab(coupon.url, couponId, 'ann', { key: 'decided' });
      expect([again.text, again.headers['idempotency-replayed']]).toEqual([reply.text, 'true']);
      replies.push(reply);
    }
    expect(outcomes(replies)).toEqual({
      '404 COUPON_NOT_FOUND': 1,
      '409 COUPON_PAUSED': 1,
      '409 COUPON_NOT_STARTED': 1,
    });
  });

  it('repeated by one user gets the ticket that waits already, up to the limit per user', async () => {
    await away();
    const couponId = await createCoupon(coupon.url, { perUserLimit: 2 });
    const tickets = [];
    for (const options of [{}, { key: 'k1' }, {}, { key: 'k2' }]) {
      tickets.push(acceptedOf('ann', await grab(coupon.url, couponId, 'ann', options)).ticketId);
    }
    const [first, second] = tickets;
    expect(first).not.toBe(second);
    expect(tickets).toEqual([first, second, second, second]);
    const all = await Promise.all(crowd(10).map(() => grab(coupon.url, couponId, 'ben')));
    expect(new Set(all.map(({ json }) => json.ticketId as string)).size).toBe(2);
  });

  it('with a key is the same 202, byte for byte, as long as the key is kept; what came of it the ticket tells', async () => {
    await away();
    const couponId = await createCoupon(coupon.url);
    const first = await grab(coupon.url, couponId, 'ann', { key: 'k1' });
    const replay = async () => {
      const { status, text, headers } = await grab(coupon.url, couponId, 'ann', { key: 'k1' });
      return [status, text, headers.location, headers['idempotency-replayed']];
    };
    const expected = [202, first.text, first.headers.location, 'true'];
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(await replay()).toEqual(expected);
    await back();
    const { status, body } = await resultOf(coupon.url, acceptedOf('ann', first));
    expect([status, body]).toMatchObject([201, { couponId, userId: 'ann', serial: 1, status: 'ISSUED' }]);
    expect(await replay()).toEqual(expected);
    expect((await grab(coupon.url, couponId, 'ann', { key: 'k2' })).json.code).toBe('COUPON_ALREADY_ISSUED');
  });
});

describe.skipIf(redisServerMissing)('once Redis is back', () => {
  it.each(['batched', 'pubsub', 'spin', 'adaptive', 'queue'])(
    'tickets under %s are done in the order of arrival: serials without gaps, the rest sold out, and once',
    async (strategy) => {
      await away();
      const users = crowd(12);
      const couponId = await createCoupon(coupon.url, { total: 8 });
      const header = strategy === 'batched' ? {} : { headers: { 'x-issue-strategy': strategy } };
      const accepted = await accept(couponId, users, header);
      await back();
      const all = await results(accepted);
      expect(told(all)).toEqual({ '201': 8, '409 COUPON_SOLD_OUT': 4 });
      const rows = await stored(couponId);
      expect(rows.map(({ userId, serial }) => [userId, serial])).toEqual(
        users.slice(0, 8).map((user, at) => [user, at + 1]),
      );
      // What each ticket tells is what is stored for its user.
      expect(all.slice(0, 8).map(({ body }) => [body.userCouponId, body.userId, body.serial])).toEqual(
        rows.map(({ id, userId, serial }) => [id, userId, serial]),
      );
      expect(all[11]!.body).toMatchObject({ type: 'urn:firstcome:problem:COUPON_SOLD_OUT', status: 409 });
      expect(await coupon.app.get(IssueTicketJob).worker.run()).toBe(0);
      expect(await stored(couponId)).toEqual(rows);
    },
  );

  it('whoever comes goes behind those who wait, and is served directly when nobody waits any more', async () => {
    await away();
    const couponId = await createCoupon(coupon.url);
    const [early] = await accept(couponId, ['early']);
    const tried = 'select from tickets where id = $1 and attempts > 1';
    await until('its turn came in vain', async () => (await database.query(tried, [early!.ticketId])).length > 0);
    // No worker gets past a head that somebody else holds.
    const head = await database.hold('select from tickets where id = $1 for update', [early!.ticketId]);
    await back();
    await untilRedisIsUsed(coupon);
    const [late] = await accept(couponId, ['late']);
    await head.letGo();
    const [first, second] = await results([early!, late!]);
    expect([first!.body.serial, second!.body.serial]).toEqual([1, 2]);
    expect((await grab(coupon.url, couponId, 'last')).json).toMatchObject({ serial: 3 });
  });

  it('contention keeps a ticket waiting, and it is tried again', async () => {
    await away();
    const couponId = await createCoupon(coupon.url);
    const [accepted] = await accept(couponId, ['ann']);
    const row = await database.hold('select from coupons where id = $1 for update', [couponId]);
    await back();
    const attempts = async () => {
      const query = 'select attempts, claimed_until from tickets where id = $1';
      const [ticket] = await database.query<{ attempts: number; claimed_until: Date | null }>(query, [
        accepted!.ticketId,
      ]);
      return ticket!;
    };
    // The turn has come, and waits for a row that does not come free.
    await database.untilBlocked(1);
    const { attempts: first } = await attempts();
    await until('the first turn ended in vain', async () => (await attempts()).attempts > first);
    expect((await ticketOf(coupon.url, accepted!)).json).toEqual({ status: 'WAITING' });
    await row.letGo();
    expect((await resultOf(coupon.url, accepted!)).status).toBe(201);
  });

  it('a mistake of ours is tried again, and in the end told as one: it does not keep the line for ever', async () => {
    await away();
    const couponId = await createCoupon(coupon.url);
    const accepted = await accept(couponId, ['ann', 'ben']);
    // Nothing that any retry mends.
    await database.query(`update tickets set asked = '{"couponId":"no number"}', failures = 4 where id = $1`, [
      accepted[0]!.ticketId,
    ]);
    await back();
    const [failed, served] = await results(accepted);
    expect(failed).toMatchObject({ status: 500, body: { code: 'INTERNAL_ERROR' } });
    expect(served).toMatchObject({ status: 201, body: { userId: 'ben', serial: 1 } });
  });
});

describe.skipIf(redisServerMissing)('what is not deferred', () => {
  it('with the policy fail: 503 LOCK_BACKEND_UNAVAILABLE, nothing stored, and not ready', async () => {
    await away();
    await using strict = await start({ LOCK_BACKEND_DOWN: 'fail' });
    const couponId = await createCoupon(strict.url);
    const reply = await grab(strict.url, couponId, 'ann', { key: 'k1' });
    expect([reply.status, reply.json.code, reply.json.retryable]).toEqual([503, 'LOCK_BACKEND_UNAVAILABLE', true]);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    expect(await database.query('select from tickets where line = $1', [`coupon:${couponId}`])).toEqual([]);
    expect((await call(strict.url, 'GET', '/readyz')).status).toBe(503);
  });

  it('more than TICKETS_MAX_WAITING: 503 LOCK_QUEUE_FULL, to be repeated', async () => {
    await away();
    await using own = await createTestDatabase();
    await using small = await start({ COUPON_DATABASE_URL: own.url, TICKETS_MAX_WAITING: '2' });
    const couponId = await createCoupon(small.url);
    const replies = [];
    for (const user of crowd(3)) replies.push(await grab(small.url, couponId, user));
    expect(outcomes(replies)).toEqual({ '202': 2, '503 LOCK_QUEUE_FULL': 1 });
    expect(replies[2]!.json.retryable).toBe(true);
    expect(Number(replies[2]!.headers['retry-after'])).toBeGreaterThan(0);
    // Who has a ticket is shown it all the same.
    expect((await grab(small.url, couponId, 'user-0')).json).toEqual(replies[0]!.json);
  });

  it('a turn that did not come in time: Redis answers, and somebody has the lock', async () => {
    await back();
    await using hasty = await start({ LOCK_WAIT_MS: '1500', ISSUE_STRATEGY: 'pubsub' });
    const couponId = await createCoupon(hasty.url);
    await untilRedisIsUsed(hasty);
    const row = await database.hold('select from coupons where id = $1 for update', [couponId]);
    const holder = grab(hasty.url, couponId, 'ann');
    await database.untilBlocked(1);
    const late = await grab(hasty.url, couponId, 'ben');
    expect([late.status, late.json.code]).toEqual([503, 'LOCK_TIMEOUT']);
    await row.letGo();
    await holder;
    expect(await database.query('select from tickets where line = $1', [`coupon:${couponId}`])).toEqual([]);
  });
});

it('in the end every invariant holds', async () => {
  const token = await tokenFor('admin', { role: 'admin' });
  expect((await call(coupon.url, 'GET', '/v1/lab/invariants', { token })).json).toMatchObject({ ok: true });
});
