import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createLocks,
  LockBackendError,
  LockLostError,
  redisStore,
  type LockEvent,
  type Locks,
  type LocksOptions,
} from '@firstcome/lock';
import { redisServerMissing, startRedisServer, type RedisServer } from './support/redis-server.js';

let server: RedisServer;
let events: LockEvent[];
const clients: { locks: Locks; redis: Redis }[] = [];

function client(options: Partial<LocksOptions> = {}): Locks {
  const redis = new Redis({ port: server.port, retryStrategy: (times) => Math.min(times * 50, 250) });
  redis.on('error', () => undefined);
  const locks = createLocks({ store: redisStore(redis), onEvent: (event) => void events.push(event), ...options });
  clients.push({ locks, redis });
  return locks;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(redisServerMissing)('when Redis is away', () => {
  beforeEach(async () => {
    server = await startRedisServer();
    events = [];
  });

  afterEach(async () => {
    await Promise.all(clients.map(({ locks }) => locks.close()));
    for (const { redis } of clients) redis.disconnect();
    clients.length = 0;
    await server.stop();
  });

  it('a call ends by its deadline as broken, never as busy, and the first good acquire comes within a second of its return', async () => {
    const locks = client();
    await locks.withLock('outage', async () => undefined);
    await server.stop();
    const startedAt = performance.now();
    await expect(locks.acquire('outage')).rejects.toBeInstanceOf(LockBackendError);
    await expect(locks.tryAcquire('outage')).rejects.toBeInstanceOf(LockBackendError);
    expect(performance.now() - startedAt).toBeLessThan(6000);
    server = await startRedisServer([], server.port);
    const backAt = performance.now();
    await locks.withLock('outage', async () => undefined, { waitMs: 5000 });
    expect(performance.now() - backAt).toBeLessThan(1000);
  });

  it('a short outage is ridden out by those who wait', async () => {
    const locks = client({ backendGraceMs: 5000 });
    const held = await locks.acquire('blip', { ttlMs: 60_000 });
    const waiting = locks.acquire('blip', { localLine: false });
    await pause(50);
    await server.stop();
    server = await startRedisServer([], server.port);
    const lease = await waiting;
    expect(lease.fence).toBeGreaterThan(held.fence);
    await lease.release();
    expect(await held.release()).toBe('lost');
  });

  it('a hung server costs every call its deadline, the lease its trust, and leaves no key', async () => {
    const locks = client();
    const lease = await locks.acquire('hung', { ttlMs: 1000 });
    const { signal } = lease;
    server.process.kill('SIGSTOP');
    await expect(locks.acquire('hung:other')).rejects.toBeInstanceOf(LockBackendError);
    expect(() => lease.assertHeld()).toThrow(LockLostError);
    expect(signal.aborted).toBe(true);
    server.process.kill('SIGCONT');
    expect(await lease.release()).toBe('lost');
    const redis = new Redis(server.port);
    while ((await redis.keys('lock:hung*')).length > 0) await pause(20);
    expect(events.filter(({ type }) => type === 'lost')).toHaveLength(1);
    redis.disconnect();
  });

  it('waiters go on while the subscriber connections are killed again and again', async () => {
    const [one, two] = [client({ handOver: { count: 1 } }), client({ handOver: { count: 1 } })];
    const admin = new Redis(server.port);
    let killing = true;
    const killer = (async () => {
      while (killing) {
        await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
        await pause(50);
      }
    })();
    let served = 0;
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? one : two).withLock(
          'killed',
          async () => {
            served += 1;
            await pause(5);
          },
          { recheckMs: 200, waitMs: 30_000 },
        ),
      ),
    );
    killing = false;
    await killer;
    expect(served).toBe(40);
    admin.disconnect();
  });

  it('a wipe while the lock is held is found by the next renewal, and fences still rise', async () => {
    const locks = client();
    const lease = await locks.acquire('wiped', { ttlMs: 600 });
    const admin = new Redis(server.port);
    await admin.flushall();
    const next = await locks.acquire('wiped', { localLine: false });
    expect(next.fence).toBeGreaterThan(lease.fence);
    while (!lease.loss) await pause(10);
    expect(await lease.release()).toBe('lost');
    expect(await next.release()).toBe('released');
    admin.disconnect();
  });
});
