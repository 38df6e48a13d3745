import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLocks, redisStore, type LockOptions, type Locks } from '@firstcome/lock';
import { queueBill } from './support/queue-bill.js';
import { redisServerMissing, startRedisServer, type RedisServer } from './support/redis-server.js';

let server: RedisServer;
let admin: Redis;
const clients: { locks: Locks; redis: Redis }[] = [];
const ignored = () => undefined;

function client(defaults: LockOptions = {}): { locks: Locks; redis: Redis } {
  const redis = new Redis(server.port);
  redis.on('error', ignored);
  const locks = createLocks({ store: redisStore(redis), defaults: { strategy: 'queue', waitMs: 60_000, ...defaults } });
  clients.push({ locks, redis });
  return { locks, redis };
}

async function lineOf(key: string, length: number): Promise<string[]> {
  for (;;) {
    const entries = await admin.zrange(`lock:queue:${key}`, 0, '-1');
    if (entries.length >= length) return entries;
  }
}

beforeAll(async () => {
  if (redisServerMissing) return;
  server = await startRedisServer();
  admin = new Redis(server.port);
});

afterEach(async () => {
  await Promise.all(clients.map(({ locks }) => locks.close()));
  for (const { redis } of clients) redis.disconnect();
  clients.length = 0;
});

afterAll(async () => {
  if (redisServerMissing) return;
  admin.disconnect();
  await server.stop();
});

describe.skipIf(redisServerMissing)('the waiting line in Redis', () => {
  it('grants in the order in which the server was asked, across processes', async () => {
    const key = 'order';
    const held = await client().locks.acquire(key);
    const others = [client(), client(), client()];
    const granted: string[] = [];
    const waiting = Array.from({ length: 600 }, (_, index) =>
      others[index % 3]!.locks.withLock(key, async ({ token }) => void granted.push(token)),
    );
    const line = await lineOf(key, 600);
    await held.release();
    await Promise.all(waiting);
    expect(granted).toEqual(line.map((entry) => entry.split(':')[1]));
    expect(await admin.exists(`lock:${key}`, `lock:queue:${key}`)).toBe(0);
  });

  it('a process that died with 200 waiters costs one claim, not 200', async () => {
    const key = 'dead-process';
    const dying = client({ ttlMs: 500, autoRenew: false });
    await dying.locks.acquire(key);
    for (let index = 0; index < 200; index += 1) dying.locks.acquire(key, { waitMs: 500 }).catch(ignored);
    await lineOf(key, 200);
    const living = client();
    const waiting = living.locks.acquire(key);
    await lineOf(key, 201);
    const diedAt = performance.now();
    dying.redis.disconnect();
    const lease = await waiting;
    // TTL, one claim of 1 s, one recheck of 1 s, and room for a slow machine; 200 claims would be 200 s.
    expect(performance.now() - diedAt).toBeLessThan(10_000);
    expect(await admin.zcard(`lock:queue:${key}`)).toBe(0);
    await lease.release();
  });

  it.each([
    { processes: 1, waiters: 50 },
    { processes: 3, waiters: 50 },
    { processes: 3, waiters: 300 },
  ])(
    'costs 3 commands an acquisition with $waiters waiters in each of $processes processes',
    async ({ processes, waiters }) => {
      const key = `budget-${processes}-${waiters}`;
      const { locks } = client({ ttlMs: 120_000 });
      const others = Array.from({ length: processes }, () => client());
      await Promise.all(others.map((other) => other.locks.withLock(`warm-${key}`, async () => undefined)));
      const held = await locks.acquire(key);
      const bill = await queueBill(server, key, async () => {
        const waiting = others.flatMap((other) =>
          Array.from({ length: waiters }, () => other.locks.withLock(key, async () => undefined)),
        );
        // Long enough for rechecks: one per process and second, however many wait in it.
        await new Promise((resolve) => setTimeout(resolve, 2500));
        await held.release();
        await Promise.all(waiting);
      });
      const rechecks = processes * Math.ceil(bill.ms / 1000);
      const acquisitions = processes * waiters;
      const { entered, granted, released, looked, enteredAgain, droppedUnclaimed, others: sent } = bill;
      expect({ entered, granted, released }).toEqual({
        entered: acquisitions,
        granted: acquisitions,
        released: acquisitions + 1,
      });
      expect(looked, 'not exercised: nobody looked again').toBeGreaterThan(0);
      // On a machine so slow that a process is taken for dead, its waiters look whether they are still in the line.
      expect(looked).toBeLessThanOrEqual(rechecks + droppedUnclaimed * waiters);
      expect(enteredAgain).toBeLessThanOrEqual(droppedUnclaimed);
      expect(sent).toEqual([]);
    },
  );

  it('beside strategies that do not line up, nobody is forgotten and nobody overlaps', async () => {
    const key = 'mixed';
    const [one, two] = [client(), client({ strategy: 'pubsub' })];
    let inside = 0;
    let served = 0;
    const body = async () => {
      inside += 1;
      if (inside > 1) throw new Error('two bodies ran at once');
      await new Promise(setImmediate);
      inside -= 1;
      served += 1;
    };
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        (index % 2 === 0 ? one : two).locks.withLock(key, body, { recheckMs: 100 }),
      ),
    );
    expect(served).toBe(60);
  });
});
