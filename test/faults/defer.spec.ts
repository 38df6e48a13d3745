import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort, redisServerMissing, startRedisServer } from '../lock/support/redis-server.js';
import type { RedisServer } from '../lock/support/redis-server.js';
import { until } from '../lock/support/waiting.js';
import { build, startBuilt } from '../support/built.js';
import { call } from '../support/client.js';
import { createCoupon, grab, outcomes } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { acceptedOf, resultOf, told } from '../support/tickets.js';
import type { Accepted } from '../support/tickets.js';
import { tokenFor } from '../support/tokens.js';

type Instance = Awaited<ReturnType<typeof startBuilt>>;

const users = Array.from({ length: 60 }, (_, at) => `user-${at}`);
const total = 40;

// Processes of the built app on a Redis that is really killed, or stopped: LOCK_BACKEND_DOWN=defer keeps what they accept.
describe.skipIf(redisServerMissing)('requests that were accepted while Redis was away', () => {
  let database: TestDatabase;
  let redis: RedisServer | undefined;
  let redisPort: number;
  const instances: Instance[] = [];

  const start = async (): Promise<Instance & { url: string }> => {
    const instance = await startBuilt('coupon', {
      COUPON_DATABASE_URL: database.url,
      REDIS_URL: `redis://127.0.0.1:${redisPort}`,
      LOCK_BACKEND_DOWN: 'defer',
      LOG_LEVEL: 'info',
    });
    instances.push(instance);
    const { url } = instance;
    if (!url) throw new Error(instance.output());
    return { ...instance, url };
  };
  const accept = async (instance: { url: string }, couponId: number, of: string[]): Promise<Accepted[]> =>
    Promise.all(of.map(async (user) => acceptedOf(user, await grab(instance.url, couponId, user))));
  const issued = async (couponId: number) => {
    const text = 'select id, user_id as "userId", serial from user_coupons where coupon_id = $1 order by serial';
    return database.query<{ id: string; userId: string; serial: number }>(text, [couponId]);
  };
  /** Each user's ticket tells what is stored for that user; nothing is lost, doubled or missing in between. */
  const judge = async (instance: { url: string }, couponId: number, accepted: Accepted[]) => {
    const results = await Promise.all(accepted.map((each) => resultOf(instance.url, each)));
    expect(told(results)).toEqual({ '201': total, '409 COUPON_SOLD_OUT': accepted.length - total });
    const given = results
      .filter(({ status }) => status === 201)
      .map(({ body }) => ({
        id: body.userCouponId as string,
        userId: body.userId as string,
        serial: body.serial as number,
      }))
      .toSorted((a, b) => a.serial - b.serial);
    const rows = await issued(couponId);
    expect(given).toEqual(rows);
    expect(rows.map(({ serial }) => serial)).toEqual(Array.from({ length: total }, (_, at) => at + 1));
    expect(new Set(rows.map(({ userId }) => userId)).size).toBe(total);
    for (const [at, { user }] of accepted.entries()) {
      const { status, body } = results[at]!;
      if (status === 201) expect(body.userId).toBe(user);
    }
    const token = await tokenFor('admin', { role: 'admin' });
    expect((await call(instance.url, 'GET', '/v1/lab/invariants', { token })).json).toMatchObject({ ok: true });
    expect(await database.query('select from tickets where status is null')).toEqual([]);
  };
  /** As if the time of every claim had passed: nobody has to wait for it. */
  const endClaims = () => database.query('update tickets set claimed_until = now() where claimed_until is not null');

  beforeAll(async () => {
    await build();
    redisPort = await freePort();
  }, 300_000);

  afterEach(async () => {
    await Promise.all(instances.splice(0).map((instance) => instance.stop()));
    redis?.resume();
    await redis?.stop();
    redis = undefined;
    await database.drop();
  });
  afterAll(() => redis?.stop());

  it('by two instances, killed under them, are all done when it is back: as many as there are, the others sold out', async () => {
    database = await createTestDatabase();
    redis = await startRedisServer([], redisPort);
    const [one, two] = [await start(), await start()];
    const couponId = await createCoupon(one.url, { total });
    const before = await createCoupon(one.url);
    expect((await grab(one.url, before, 'before')).status).toBe(201);
    await redis.stop();
    const halves = [users.slice(0, 30), users.slice(30)];
    const accepted = (await Promise.all([accept(one, couponId, halves[0]!), accept(two, couponId, halves[1]!)])).flat();
    expect(await issued(couponId)).toEqual([]);
    redis = await startRedisServer([], redisPort);
    await judge(two, couponId, accepted);
    // First come, first served: by the place in the line, which the database has given out.
    const line = await database.query<{ user_id: string }>(
      'select user_id from tickets where line = $1 order by place',
      [`coupon:${couponId}`],
    );
    expect((await issued(couponId)).map(({ userId }) => userId)).toEqual(
      line.slice(0, total).map(({ user_id }) => user_id),
    );
    // And the grab is a grab again.
    await until('grabs are served directly', async () => {
      const reply = await grab(one.url, await createCoupon(one.url), 'after');
      return reply.status === 201;
    });
  });

  it('stopped instead of killed: no request hangs, and all are done when it goes on', async () => {
    database = await createTestDatabase();
    redis = await startRedisServer([], redisPort);
    const one = await start();
    const couponId = await createCoupon(one.url, { total });
    expect((await grab(one.url, await createCoupon(one.url), 'before')).status).toBe(201);
    redis.hang();
    const accepted = await accept(one, couponId, users);
    expect(await issued(couponId)).toEqual([]);
    redis.resume();
    await judge(one, couponId, accepted);
  });

  it('by a worker killed before its commit: nothing of it is there, and another one does them all', async () => {
    database = await createTestDatabase();
    const one = await start();
    const couponId = await createCoupon(one.url, { total });
    const accepted = await accept(one, couponId, users);
    const row = await database.hold('select from coupons where id = $1 for update', [couponId]);
    redis = await startRedisServer([], redisPort);
    // It has claimed them, has the lock, and waits for the row in its transaction.
    await database.untilBlocked(1);
    await one.kill();
    await row.letGo();
    expect(await issued(couponId)).toEqual([]);
    await endClaims();
    const two = await start();
    await judge(two, couponId, accepted);
  });

  it('by a worker killed after its commit and before it told the tickets: none of them has a second effect', async () => {
    database = await createTestDatabase();
    const one = await start();
    const couponId = await createCoupon(one.url, { total });
    const accepted = await accept(one, couponId, users);
    const row = await database.hold('select from coupons where id = $1 for update', [couponId]);
    redis = await startRedisServer([], redisPort);
    await database.untilBlocked(1);
    // Claimed by now; what it may not write any more is what became of them.
    const tickets = await database.hold('select from tickets for update');
    await row.letGo();
    await until('the work is committed', async () => (await issued(couponId)).length === total);
    await database.untilBlocked(1);
    await one.kill();
    // What it had sent already PostgreSQL would still do after its death: here it was lost on the way.
    await database.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    await tickets.letGo();
    const before = await issued(couponId);
    expect(await database.query('select from tickets where status is not null')).toEqual([]);
    await endClaims();
    const two = await start();
    await judge(two, couponId, accepted);
    expect(await issued(couponId)).toEqual(before);
  });

  it('are refused under the policy fail: 503, at once and for all, and nothing is left behind', async () => {
    database = await createTestDatabase();
    const strict = await startBuilt('coupon', {
      COUPON_DATABASE_URL: database.url,
      REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    });
    instances.push(strict);
    const couponId = await createCoupon(strict.url!, { total });
    const replies = await Promise.all(users.map((user) => grab(strict.url!, couponId, user)));
    expect(outcomes(replies)).toEqual({ '503 LOCK_BACKEND_UNAVAILABLE': users.length });
    expect(await database.query('select from tickets')).toEqual([]);
  });
});
