import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LockBackendError, LockLostError, LockWaitTimeoutError } from '@firstcome/lock';
import { quiet } from '../lock/support/baseline.js';
import { connect, type Connected } from '../lock/support/connection.js';
import { Proxy } from '../lock/support/proxy.js';
import { redisServerMissing, startRedisServer, type RedisServer } from '../lock/support/redis-server.js';
import { now, sleep, until } from '../lock/support/waiting.js';

/** A tenth of the deadline, and what a busy machine of two cores adds. */
const by = (deadlineMs: number) => deadlineMs * 1.1 + 250;

describe.skipIf(redisServerMissing)('a network that is slow or goes one way', () => {
  let server: RedisServer;
  let proxy: Proxy;
  let near: Connected;
  let far: Connected;

  beforeAll(async () => {
    server = await startRedisServer();
    proxy = await Proxy.start(server.port, 7);
    near = connect({ port: server.port });
    far = connect({ port: proxy.port });
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

  const timed = async (work: Promise<unknown>) => {
    const startedAt = now();
    const end = await work.then(
      () => 'ok',
      (error: unknown) => error,
    );
    return { end, tookMs: now() - startedAt };
  };

  it.each([5, 50, 500])('of %i ms a round trip grants, waits and gives up by its deadline', async (roundTripMs) => {
    proxy.delayMs = roundTripMs / 2;
    proxy.jitterMs = roundTripMs / 10;
    const granted = await timed(far.locks.withLock('slow', async (lease) => lease.assertHeld()));
    expect(granted.end).toBe('ok');
    expect(granted.tookMs, 'not exercised').toBeGreaterThan(roundTripMs * 2 - 1);
    const held = await near.locks.acquire('slow');
    const refused = await timed(far.locks.acquire('slow', { waitMs: 1200 }));
    expect(refused.end).toBeInstanceOf(LockWaitTimeoutError);
    expect(refused.tookMs).toBeLessThan(by(1200));
    await held.release();
  });

  it('that takes longer than the lease discards the grant: nobody is told that he holds what is over', async () => {
    proxy.delayMs = 250;
    const { end, tookMs } = await timed(far.locks.acquire('short', { ttlMs: 400, waitMs: 1500, autoRenew: false }));
    expect(end).toBeInstanceOf(LockWaitTimeoutError);
    expect(tookMs).toBeLessThan(by(1500));
  });

  it.each(['requests', 'replies'] as const)(
    'that swallows %s hangs no call, loses the lease by the clock, and heals without a key left behind',
    async (direction) => {
      const ttlMs = 1500;
      const lease = await far.locks.acquire(`hole:${direction}:held`, { ttlMs });
      const { signal } = lease;
      const before = proxy.bites.held;
      proxy.blackHole(direction);
      const startedAt = now();
      const lost = new Promise<number>((resolve) => signal.addEventListener('abort', () => resolve(now() - startedAt)));
      // A TTL that outlives this test: only a compare-and-delete can take it away in time.
      const options = { ttlMs: 60_000, waitMs: 2000 };
      const [waited, tried, body] = await Promise.all([
        timed(far.locks.acquire(`hole:${direction}:waited`, options)),
        timed(far.locks.tryAcquire(`hole:${direction}:tried`, options)),
        timed(
          (async () => {
            const lostAfterMs = await lost;
            expect(() => lease.assertHeld()).toThrow(LockLostError);
            return lostAfterMs;
          })(),
        ),
      ]);
      expect(proxy.bites.held - before, 'not exercised: nothing was swallowed').toBeGreaterThan(0);
      expect(waited.end).toBeInstanceOf(LockBackendError);
      expect(waited.tookMs).toBeLessThan(by(2000));
      expect(tried.end).toBeInstanceOf(LockBackendError);
      expect(tried.tookMs).toBeLessThan(by(1500));
      expect(body.tookMs).toBeLessThan(by(ttlMs));
      const released = await timed(lease.release());
      expect(released.tookMs).toBeLessThan(by(1500));
      proxy.heal();
      // What was swallowed arrives now: a request that was given up long ago is granted, and has to be undone.
      await until('late grants are given back', async () => {
        const [one, other] = await Promise.all([
          near.locks.isLocked(`hole:${direction}:waited`),
          near.locks.isLocked(`hole:${direction}:tried`),
        ]);
        return !one && !other;
      });
      expect((await timed(far.locks.withLock(`hole:${direction}:held`, async () => undefined))).end).toBe('ok');
    },
  );

  it('that cuts every connection, again and again, costs retries and no turn', async () => {
    const before = proxy.bites.cut;
    const striking = setInterval(() => proxy.cut(), 60);
    let running = 0;
    let done = 0;
    const turn = ({ locks }: Connected) =>
      locks.withLock(
        'cut',
        async () => {
          running += 1;
          expect(running).toBe(1);
          await sleep(3);
          running -= 1;
          done += 1;
        },
        { ttlMs: 20_000, waitMs: 15_000, localLine: false },
      );
    await Promise.all(Array.from({ length: 40 }, (_, index) => turn(index % 2 ? far : near)));
    clearInterval(striking);
    expect(done).toBe(40);
    expect(proxy.bites.cut - before, 'not exercised').toBeGreaterThan(2);
  });
});
