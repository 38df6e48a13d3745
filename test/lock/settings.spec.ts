import { Redis, type RedisOptions } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLocks, redisStore, type Locks } from '@firstcome/lock';
import { testRedisUrl } from '../support/servers.js';

/** What users set for reasons of their own. None of it may change what a lock means. */
const settings: { name: string; options: RedisOptions }[] = [
  { name: 'no offline queue', options: { enableOfflineQueue: false } },
  { name: 'no re-sending', options: { autoResendUnfulfilledCommands: false } },
  { name: 'endless retries', options: { maxRetriesPerRequest: null } },
  { name: 'no retries', options: { maxRetriesPerRequest: 0 } },
  { name: 'autopipelining', options: { enableAutoPipelining: true } },
  { name: 'a key prefix', options: { keyPrefix: 'shop*[1]:' } },
  { name: 'numbers as strings', options: { stringNumbers: true } },
  { name: 'RESP3', options: { protocol: 3 } },
  { name: 'a lazy connection', options: { lazyConnect: true } },
  { name: 'a lazy connection without offline queue', options: { lazyConnect: true, enableOfflineQueue: false } },
  { name: 'no subscribing again', options: { autoResubscribe: false } },
];

describe.each(settings)('with $name', ({ options }) => {
  let admin: Redis;
  const clients: Redis[] = [];
  const locks: Locks[] = [];
  let key: string;

  beforeAll(() => {
    admin = new Redis(testRedisUrl());
    for (let index = 0; index < 2; index += 1) {
      const redis = new Redis(testRedisUrl(), options);
      redis.on('error', () => undefined);
      clients.push(redis);
      locks.push(createLocks({ store: redisStore(redis), defaults: { recheckMs: 60_000 } }));
    }
  });

  beforeEach(() => {
    key = `settings:${process.pid}:${Math.random()}`;
  });

  afterAll(async () => {
    await Promise.all(locks.map((each) => each.close()));
    for (const client of [...clients, admin]) client.disconnect();
  });

  it('the first call works, whatever state the connection is in', async () => {
    for (const each of locks) expect(await each.withLock(key, async () => 'worked')).toBe('worked');
  });

  it('a wait ends with the release, not with a recheck', async () => {
    const [one, two] = locks as [Locks, Locks];
    let inside = 0;
    await Promise.all(
      [one, two, one, two].map((each) =>
        each.withLock(key, async () => {
          inside += 1;
          expect(inside).toBe(1);
          await new Promise(setImmediate);
          inside -= 1;
        }),
      ),
    );
  });

  it.each(['queue', 'spin'] as const)('%s works too', async (strategy) => {
    const [one, two] = locks as [Locks, Locks];
    const order: number[] = [];
    const held = await one.acquire(key, { strategy });
    const waiting = [0, 1, 2].map((index) =>
      two.withLock(key, async () => void order.push(index), { strategy, localLine: true }),
    );
    await held.release();
    await Promise.all(waiting);
    expect(order).toHaveLength(3);
  });

  it('fences are numbers that rise, and the key stands where the prefix says', async () => {
    const [one] = locks as [Locks];
    const first = await one.acquire(key);
    expect(await admin.get(`${options.keyPrefix ?? ''}lock:${key}`)).toBe(first.token);
    await first.release();
    const second = await one.acquire(key);
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(await one.isLocked(key)).toBe(true);
    await second.release();
  });

  it('a connection that breaks while the reply is due costs nothing but time', async () => {
    const [one, two] = locks as [Locks, Locks];
    const id = await clients[0]?.client('ID');
    const lease = one.acquire(key);
    await admin.client('KILL', 'ID', Number(id));
    await (await lease).release();
    await two.withLock(key, async () => undefined);
    expect(await admin.exists(`${options.keyPrefix ?? ''}lock:${key}`)).toBe(0);
  });

  it('a server that forgot the scripts is told again', async () => {
    await admin.script('FLUSH');
    expect(await locks[0]?.withLock(key, async () => 'worked')).toBe('worked');
  });
});
