import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLocks, redisStore, type Locks, type LocksOptions } from '@firstcome/lock';
import { commandsDuring, redisServerMissing, startRedisServer, type RedisServer } from './support/redis-server.js';

let server: RedisServer;
const clients: { locks: Locks; redis: Redis }[] = [];

/** A process of its own as far as Redis can tell: its own connections. */
async function client(options: Partial<LocksOptions> = {}): Promise<Locks> {
  const redis = new Redis(server.port);
  const locks = createLocks({ store: redisStore(redis), ...options });
  clients.push({ locks, redis });
  // Connected, subscribed, scripts known.
  await locks.withLock('warm-up', async () => undefined);
  await subscribed(clients.length);
  return locks;
}

async function subscribed(count: number): Promise<void> {
  const redis = new Redis(server.port);
  const listening = async () =>
    String(await redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub')).match(/ psub=1 /g)?.length ?? 0;
  while ((await listening()) < count) await new Promise(setImmediate);
  redis.disconnect();
}

beforeAll(async () => {
  if (redisServerMissing) return;
  server = await startRedisServer();
});

afterEach(async () => {
  await Promise.all(clients.map(({ locks }) => locks.close()));
  for (const { redis } of clients) redis.disconnect();
  clients.length = 0;
});

afterAll(async () => {
  if (!redisServerMissing) await server.stop();
});

describe.skipIf(redisServerMissing)('what clients send to Redis', () => {
  it('is 2 commands for an uncontended acquire and release, the first ones too', async () => {
    const redis = new Redis(server.port);
    await redis.ping();
    const locks = createLocks({ store: redisStore(redis) });
    clients.push({ locks, redis });
    await subscribed(1);
    const first = await commandsDuring(server, () => locks.withLock('budget:cold', async () => undefined));
    const second = await commandsDuring(server, () => locks.withLock('budget:warm', async () => undefined));
    expect([first, second]).toEqual([
      ['eval', 'eval'],
      ['evalsha', 'evalsha'],
    ]);
  });

  it.each([
    { processes: 1, waiters: 50 },
    { processes: 2, waiters: 50 },
    { processes: 4, waiters: 50 },
    { processes: 2, waiters: 1000 },
  ])(
    'is at most 2 + (P-1) per hand-over with $waiters waiters in each of $processes processes',
    async ({ processes, waiters }) => {
      const locks: Locks[] = [];
      for (let index = 0; index < processes; index += 1) locks.push(await client({ handOver: { count: 1 } }));
      let grants = 0;
      const commands = await commandsDuring(server, async () => {
        await Promise.all(
          locks.flatMap((each) =>
            Array.from({ length: waiters }, () =>
              each.withLock('budget:line', async () => {
                grants += 1;
              }),
            ),
          ),
        );
      });
      expect(grants).toBe(processes * waiters);
      expect(commands.filter((command) => command.includes('subscribe'))).toEqual([]);
      // The first look of each process comes on top.
      expect(commands.length).toBeLessThanOrEqual(grants * (2 + processes - 1) + processes);
    },
  );

  it('is below 0.2 for a hand-over inside the process', async () => {
    const locks = await client();
    const commands = await commandsDuring(server, async () => {
      await Promise.all(Array.from({ length: 640 }, () => locks.withLock('budget:local', async () => undefined)));
    });
    expect(commands.length).toBeLessThan(640 * 0.2);
  });

  it('is one round trip per TTL/3 for the renewal of 1000 leases', async () => {
    const locks = await client({ defaults: { ttlMs: 9000 } });
    const leases = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => locks.acquire(`budget:renew:${index}`)),
    );
    const startedAt = performance.now();
    const commands = await commandsDuring(server, () => new Promise((resolve) => setTimeout(resolve, 7000)));
    const rounds = (performance.now() - startedAt) / 3000;
    expect(commands.length).toBeGreaterThanOrEqual(1);
    expect(commands.length).toBeLessThanOrEqual(Math.ceil(rounds));
    for (const lease of leases) lease.assertHeld();
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('needs 2 connections per process with 5000 waiters', async () => {
    const locks = await client();
    const redis = new Redis(server.port);
    const connections = async () =>
      String(await redis.client('LIST'))
        .trim()
        .split('\n').length - 1;
    const before = await connections();
    const held = await locks.acquire('budget:crowd');
    const waiting = Array.from({ length: 5000 }, () => locks.withLock('budget:crowd', async () => undefined));
    expect(locks.stats().waiters).toBe(5000);
    expect([before, await connections()]).toEqual([2, 2]);
    await held.release();
    await Promise.all(waiting);
    redis.disconnect();
  });
});
