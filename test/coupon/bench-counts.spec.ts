import { LockService } from '@firstcome/lock/nest';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Crowd } from '../../load/bench-issue/crowd.js';
import type { Told } from '../../load/bench-issue/crowd.js';
import { judge } from '../../load/bench-issue/judge.js';
import { commandsDuring } from '../../load/bench-issue/redis-commands.js';
import { jwtSecret } from '../../load/bench-issue/system.js';
import type { Arrival } from '../../load/bench-issue/system.js';
import { tokenFor } from '../../load/bench-issue/tokens.js';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { testRedisUrl } from '../support/servers.js';

// What `npm run bench:issue` counts, without its clock: a small part of it, made deterministic by a lock that is held until
// everybody waits.
const users = 256;

let database: TestDatabase;
let instances: RunningApp[];
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  const overrides = { COUPON_DATABASE_URL: database.url, JWT_SECRET: jwtSecret };
  instances = [await startCoupon(overrides), await startCoupon(overrides)];
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  for (const instance of instances ?? []) await instance.close();
  await database?.drop();
});

async function newCoupon(): Promise<number> {
  const token = tokenFor('admin', 'admin');
  const { json } = await call(instances[0]!.url, 'POST', '/v1/lab/reset', { token, body: { total: 10_000 } });
  return json.id as number;
}

/** In the order in which they came, by the instance to which they came. */
function keepBooks(): Arrival[][] {
  return instances.map(({ app }) => {
    const book: Arrival[] = [];
    app.getHttpServer().prependListener('request', ({ headers }: { headers: { authorization: string } }) => {
      const claims = headers.authorization.split('.')[1]!;
      const { sub } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sub: string };
      book.push([sub, performance.now()]);
    });
    return book;
  });
}

it('256 users who wait at two instances cost few transactions and few Redis commands, and nobody overtakes at an instance', async () => {
  const crowd = new Crowd(
    instances.map(({ url }) => url),
    users / 2,
  );
  // A token that is seen for the first time is verified on another thread, and may come back later than its neighbours.
  await crowd.introduce(await newCoupon(), 'batched');
  const couponId = await newCoupon();
  const locks = instances.map(({ app }) => app.get(LockService));
  const lease = await locks[0]!.acquire(`coupon:issue:${couponId}`);
  const books = keepBooks();
  let told: Told | undefined;
  const commands = await commandsDuring(testRedisUrl(), async () => {
    const block = { couponId, strategy: 'batched', users, once: true, warmUpMs: 0, measureMs: 60_000 };
    const served = crowd.run(block);
    const waiting = () => locks.reduce((sum, each) => sum + each.stats().waiters, 0);
    // They, and the turn of each instance that waits for all of its own.
    while (waiting() < users + instances.length) await new Promise(setImmediate);
    await lease.release();
    told = await served;
  });
  const { issued, perTransaction, inversions } = await judge(client, couponId, told!, books);
  expect(issued).toBe(users);
  expect(told!.refused).toEqual({});
  expect(perTransaction).toBeGreaterThanOrEqual(30);
  expect(commands / issued).toBeLessThanOrEqual(0.2);
  expect(inversions.within).toBe(0);
});
