import type { RedisOptions } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { quiet } from '../lock/support/baseline.js';
import { connect, connectRedis, type Connected } from '../lock/support/connection.js';
import { Proxy } from '../lock/support/proxy.js';
import { redisServerMissing, startRedisServer, type RedisServer } from '../lock/support/redis-server.js';
import { now, sleep } from '../lock/support/waiting.js';

/** What users set for reasons of their own: none of it may decide what a lost reply means. */
const settings: { name: string; redis: RedisOptions }[] = [
  { name: 'settings of an application', redis: {} },
  { name: 'no re-sending', redis: { autoResendUnfulfilledCommands: false } },
  { name: 'no offline queue', redis: { enableOfflineQueue: false } },
  { name: 'no retries', redis: { maxRetriesPerRequest: 0 } },
  { name: 'autopipelining', redis: { enableAutoPipelining: true } },
  { name: 'a key prefix and a deadline per command', redis: { keyPrefix: 'shop:', commandTimeout: 700 } },
];

describe.skipIf(redisServerMissing)('a reply that is lost, to ioredis as it comes', () => {
  it('makes a plain SET NX busy against itself: the control', async () => {
    const server = await startRedisServer();
    const proxy = await Proxy.start(server.port);
    const client = connectRedis({ port: proxy.port });
    try {
      await client.ping();
      const bitten = proxy.dropReplyTo('lock:control');
      const answer = await client.set('lock:control', 'mine', 'PX', 60_000, 'NX');
      await bitten;
      expect([answer, await client.get('lock:control')]).toEqual([null, 'mine']);
    } finally {
      client.disconnect();
      await proxy.close();
      await server.stop();
    }
  });
});

describe.skipIf(redisServerMissing).each(settings)(
  'a reply that is lost, with its connection, under $name',
  ({ redis }) => {
    let server: RedisServer;
    let proxy: Proxy;
    let near: Connected;
    let far: Connected;

    beforeAll(async () => {
      server = await startRedisServer();
      proxy = await Proxy.start(server.port);
      near = connect({ port: server.port, redis });
      far = connect({ port: proxy.port, redis });
      await far.locks.withLock('warm-up', async () => undefined);
    });

    afterEach(async () => {
      proxy.heal();
      await quiet(server.port);
    });

    afterAll(async () => {
      await Promise.all([near.close(), far.close()]);
      await proxy.close();
      await server.stop();
    });

    it('of an acquire, costs a retry and not the TTL, and the next one finds the lock free', async () => {
      const bitten = proxy.dropReplyTo('lock:acquire');
      const startedAt = now();
      const lease = await far.locks.acquire('acquire', { ttlMs: 60_000, waitMs: 8000 });
      await bitten;
      expect(now() - startedAt).toBeLessThan(3000);
      lease.assertHeld();
      expect(await near.locks.tryAcquire('acquire')).toBeNull();
      expect(await lease.release()).toBe('released');
      expect(await near.locks.isLocked('acquire')).toBe(false);
    });

    it('of a renewal, does not end the lease: it is renewed again before its time is over', async () => {
      const lease = await far.locks.acquire('renew', { ttlMs: 900 });
      const bitten = proxy.dropReplyTo('lock:renew');
      await bitten;
      await sleep(1500);
      lease.assertHeld();
      expect(await near.locks.tryAcquire('renew')).toBeNull();
      expect(await lease.release()).toBe('released');
    });

    it('of a release, leaves the lock free, throws nothing over the result and frees nobody else', async () => {
      const bitten = proxy.dropReplyTo('lock:release');
      // Waits on the server itself: it is granted by the release whose reply is lost.
      let next: Promise<unknown> = Promise.resolve();
      const result = await far.locks.withLock(
        'release',
        async () => {
          next = near.locks.acquire('release', { ttlMs: 60_000 }).then(async (lease) => {
            await sleep(800);
            lease.assertHeld();
            expect((await near.locks.inspect('release')).token).toBe(lease.token);
            return lease.release();
          });
          await sleep(50);
          return 'done';
        },
        { ttlMs: 60_000 },
      );
      await bitten;
      expect(result).toBe('done');
      expect(await next).toBe('released');
    });

    // Reconnecting takes 50 ms and more: struck faster than that, nothing would ever be answered.
    it('again and again among two processes, leaves no key and loses no turn', async () => {
      const before = proxy.bites.repliesDropped;
      const striking = setInterval(() => void proxy.dropReplyTo('lock:storm'), 250);
      let running = 0;
      let done = 0;
      const turn = async ({ locks }: Connected) =>
        locks.withLock(
          'storm',
          async (lease) => {
            running += 1;
            expect(running).toBe(1);
            await sleep(15);
            lease.assertHeld();
            running -= 1;
            done += 1;
          },
          { ttlMs: 30_000, waitMs: 20_000, localLine: false },
        );
      await Promise.all(Array.from({ length: 60 }, (_, index) => turn(index % 2 ? far : near)));
      clearInterval(striking);
      expect(done).toBe(60);
      expect(proxy.bites.repliesDropped - before, 'not exercised: no reply was dropped').toBeGreaterThan(1);
    });
  },
);
