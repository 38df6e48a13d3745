import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LockAbortedError, LockBackendError, LockLostError, LockUsageError, LockWaitTimeoutError } from './errors.js';
import type { LockEvent } from './events.js';
import { createLocks, type Locks } from './locks.js';
import type { LocksOptions } from './locks-options.js';
import { systemRandom } from './ports/random.js';
import { ManualClock, settle } from './testing/manual-clock.js';
import { ScriptedStore } from './testing/scripted-store.js';

let clock: ManualClock;
let store: ScriptedStore;
let events: LockEvent[];
let locks: Locks;
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => void unhandled.push(reason);

function client(options: Partial<LocksOptions> = {}): Locks {
  locks = createLocks({ store: store.factory, clock, onEvent: (event) => void events.push(event), ...options });
  return locks;
}

const never = () => new Promise<never>(() => undefined);
const fails = () => Promise.reject(new Error('connection reset'));

beforeEach(() => {
  clock = new ManualClock();
  store = new ScriptedStore();
  events = [];
  process.on('unhandledRejection', onUnhandled);
});

afterEach(async () => {
  await settle();
  process.off('unhandledRejection', onUnhandled);
  if (unhandled.length > 0) throw new AggregateError(unhandled.splice(0), 'unhandled rejections');
});

describe('the release', () => {
  it('never throws over the result of the body', async () => {
    client();
    store.next('release', fails);
    expect(await locks.withLock('k', async () => 'result')).toBe('result');
  });

  it('never throws over the error of the body', async () => {
    client();
    store.next('release', fails);
    await expect(locks.withLock('k', () => Promise.reject(new RangeError('mine')))).rejects.toBeInstanceOf(RangeError);
  });

  it('tries once, and what an unknown outcome left behind is taken away by the token', async () => {
    client();
    const lease = await locks.acquire('k');
    store.next('release', fails);
    expect(await lease.release()).toBe('unknown');
    await clock.advance(1000);
    expect((await store.real.inspect('k')).held).toBe(false);
    expect(clock.timers).toBe(0);
  });
});

describe('the watchdog', () => {
  it('survives failed renewals, and renews in time for the lease to go on', async () => {
    client();
    const lease = await locks.acquire('k', { ttlMs: 3000 });
    store.next('renew', fails);
    store.next('renew', async () => [new Error('no answer')]);
    await clock.advance(10_000);
    lease.assertHeld();
    expect(events.filter((event) => event.type === 'renewed' && event.result === 'failed')).toHaveLength(2);
    await lease.release();
    expect(clock.timers).toBe(0);
  });

  it('does not outlive the release', async () => {
    client();
    await locks.withLock('k', () => clock.advance(6000));
    const renewals = store.count('renew');
    expect(renewals).toBe(3);
    await clock.advance(20_000);
    expect(store.count('renew')).toBe(renewals);
    expect(clock.timers).toBe(0);
  });

  it('renews a third of the TTL after the grant, and all leases in one call', async () => {
    client();
    await locks.acquire('a', { ttlMs: 5000 });
    await clock.advance(500);
    for (let index = 0; index < 100; index += 1) await locks.acquire(`b:${index}`, { ttlMs: 5000 });
    await clock.advance(1166);
    expect(store.count('renew')).toBe(0);
    await clock.advance(2);
    expect(store.count('renew')).toBe(1);
    await clock.advance(1665);
    expect(store.count('renew')).toBe(1);
    await clock.advance(3);
    expect(store.count('renew')).toBe(2);
  });

  it('a lease that the store no longer has is lost at the renewal', async () => {
    client();
    const lease = await locks.acquire('k', { ttlMs: 3000 });
    const { signal } = lease;
    await store.real.forceRelease('k');
    await clock.advance(1001);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(() => lease.assertHeld()).toThrow(LockLostError);
  });

  it('stops at maxHoldMs: a body that hangs does not hold for ever', async () => {
    client();
    const lease = await locks.acquire('k', { ttlMs: 3000, maxHoldMs: 10_000 });
    await clock.advance(10_000);
    lease.assertHeld();
    await clock.advance(3000);
    expect(lease.loss).toBeInstanceOf(LockLostError);
  });

  it('warns once when 80 % of a fixed lease is over', async () => {
    client();
    await locks.acquire('k', { ttlMs: 1000, autoRenew: false });
    await clock.advance(780);
    expect(events.filter(({ type }) => type === 'long_hold')).toHaveLength(0);
    await clock.advance(30);
    expect(events.filter(({ type }) => type === 'long_hold')).toHaveLength(1);
    await clock.advance(500);
    expect(events.filter(({ type }) => type === 'long_hold')).toHaveLength(1);
  });
});

describe('the local clock', () => {
  it('finds a lease lost without an answer from a hung store, before the store frees the key', async () => {
    client();
    const lease = await locks.acquire('k', { ttlMs: 1000 });
    const { signal } = lease;
    for (let index = 0; index < 10; index += 1) store.next('renew', never);
    await clock.advance(987);
    expect(signal.aborted).toBe(false);
    await clock.advance(3);
    expect(signal.aborted).toBe(true);
    expect((await store.real.inspect('k')).held).toBe(true);
  });

  it('finds a lease lost where no timer could run', async () => {
    client();
    const lease = await locks.acquire('k', { ttlMs: 1000 });
    clock.jump(3000);
    expect(() => lease.assertHeld()).toThrow(LockLostError);
    expect(lease.remainingMs).toBe(0);
    expect(await lease.release()).toBe('lost');
  });

  it('counts from before the request was sent: a grant older than its margin is given back', async () => {
    client();
    store.next('acquire', async (run) => {
      const answer = await run();
      clock.jump(1200);
      return answer;
    });
    const lease = await locks.acquire('k', { ttlMs: 1000 });
    expect(store.count('acquire')).toBe(2);
    expect(lease.remainingMs).toBeGreaterThan(900);
  });

  it('a loss known before the body ends is thrown with the error of the body as its cause', async () => {
    client();
    const body = async () => {
      clock.jump(6000);
      throw new RangeError('mine');
    };
    await expect(locks.withLock('k', body)).rejects.toMatchObject({ code: 'LOCK_LOST', cause: new RangeError('mine') });
  });

  it('a loss found by the release is only reported', async () => {
    client();
    const body = async () => {
      await store.real.forceRelease('k');
      return 'result';
    };
    expect(await locks.withLock('k', body)).toBe('result');
    expect(events.filter(({ type }) => type === 'lost')).toHaveLength(1);
  });
});

describe('an outcome nobody knows', () => {
  it('does not deadlock against itself: the same token asks again', async () => {
    client();
    store.next('acquire', async (run) => {
      await run();
      throw new Error('reply lost');
    });
    const waiting = locks.acquire('k');
    await clock.advance(200);
    const lease = await waiting;
    expect((await store.real.inspect('k')).token).toBe(lease.token);
    expect(store.count('acquire')).toBe(2);
  });

  it('of a single attempt is broken, not busy, and leaves no key', async () => {
    client();
    store.next('acquire', async (run) => {
      await run();
      throw new Error('reply lost');
    });
    await expect(locks.tryAcquire('k')).rejects.toBeInstanceOf(LockBackendError);
    await settle();
    expect((await store.real.inspect('k')).held).toBe(false);
  });

  it('a grant that arrives after the wait was abandoned is released', async () => {
    client();
    let answer = () => {};
    store.next('acquire', async (run) => {
      await new Promise<void>((resolve) => (answer = resolve));
      return run();
    });
    const abort = new AbortController();
    const waiting = locks.acquire('k', { signal: abort.signal });
    await settle();
    abort.abort();
    await expect(waiting).rejects.toBeInstanceOf(LockAbortedError);
    answer();
    await settle();
    expect((await store.real.inspect('k')).held).toBe(false);
    expect(locks.stats()).toMatchObject({ waiters: 0, keysInUse: 0, holds: 0 });
  });

  it('goes to the next in line when the one it was for has left', async () => {
    client();
    let answer = () => {};
    store.next('acquire', async (run) => {
      await new Promise<void>((resolve) => (answer = resolve));
      return run();
    });
    const first = locks.acquire('k', { waitMs: 100 });
    const second = locks.acquire('k');
    const refused = first.catch((error: unknown) => error);
    await clock.advance(100);
    expect(await refused).toBeInstanceOf(LockWaitTimeoutError);
    answer();
    expect((await second).remainingMs).toBeGreaterThan(0);
    expect(store.count('acquire')).toBe(1);
  });

  it('a store that stays broken refuses everybody who waits, as broken', async () => {
    client({ backendGraceMs: 500 });
    for (let index = 0; index < 50; index += 1) store.next('acquire', fails);
    const waiting = Promise.allSettled([locks.acquire('k'), locks.acquire('k'), locks.acquire('k')]);
    await clock.advance(800);
    for (const result of await waiting) expect(result).toMatchObject({ reason: { code: 'LOCK_BACKEND_UNAVAILABLE' } });
    expect(clock.timers).toBe(0);
  });
});

describe('waiting', () => {
  it('a release between the failed try and the sleep is not missed', async () => {
    client();
    const held = await locks.acquire('k', { localLine: false });
    store.next('acquire', async (run) => {
      const busy = await run();
      // The answer is on its way; the news of the release overtakes it.
      await held.release();
      return busy;
    });
    const lease = await locks.acquire('k', { localLine: false });
    expect(lease.fence).toBeGreaterThan(held.fence);
    expect(clock.now()).toBe(1000);
  });

  it('whoever heard nothing looks again within recheckMs, and sooner when the time of the holder runs out', async () => {
    client();
    await locks.acquire('k', { ttlMs: 1300, autoRenew: false });
    const waiting = locks.acquire('k', { localLine: false, waitMs: 5000, recheckMs: 1000 });
    await clock.advance(1000);
    expect(store.count('acquire')).toBe(3);
    await clock.advance(302);
    await waiting;
    expect(store.count('acquire')).toBe(4);
  });

  it('5000 waiters of one key set one timer, and leave none', async () => {
    client();
    const held = await locks.acquire('k', { autoRenew: false, ttlMs: 60_000 });
    const timers = clock.timers;
    const waiting = Array.from({ length: 5000 }, () => locks.acquire('k').catch((error: unknown) => error));
    await settle();
    expect(clock.timers).toBe(timers + 1);
    await clock.advance(10_000);
    const refused = await Promise.all(waiting);
    expect(refused.every((error) => error instanceof LockWaitTimeoutError)).toBe(true);
    await held.release();
    expect(clock.timers).toBe(0);
    expect(locks.stats()).toMatchObject({ waiters: 0, keysInUse: 0 });
  });

  it('more than maxWaiters are refused with the place they would have had', async () => {
    client();
    const held = await locks.acquire('k');
    const waiting = locks.acquire('k', { maxWaiters: 1 });
    await clock.advance(30);
    await expect(locks.acquire('k', { maxWaiters: 1 })).rejects.toMatchObject({ place: 2, estimateMs: 30 });
    await held.release();
    await (await waiting).release();
  });

  it('a store without news is looked at again and again', async () => {
    client();
    await locks.acquire('k', { ttlMs: 60_000 });
    const waiting = locks.acquire('k', { strategy: 'spin', localLine: false, waitMs: 1000 });
    const refused = waiting.catch((error: unknown) => error);
    await clock.advance(1000);
    expect(await refused).toBeInstanceOf(LockWaitTimeoutError);
    expect(store.count('acquire')).toBeGreaterThan(14);
    expect(store.count('acquire')).toBeLessThan(30);
  });

  it.each(['spin', 'adaptive'] as const)('with back-off, %s looks that much more rarely', async (strategy) => {
    const looks = async (backoff: number): Promise<number> => {
      store = new ScriptedStore();
      client({ backoff, random: { ...systemRandom, next: () => 0.5 } });
      await locks.acquire('k', { ttlMs: 60_000 });
      const refused = locks.acquire('k', { strategy, localLine: false, waitMs: 4000 }).catch((error: unknown) => error);
      await clock.advance(4000);
      expect(await refused).toBeInstanceOf(LockWaitTimeoutError);
      return store.count('acquire');
    };
    const usual = await looks(1);
    expect(await looks(4)).toBeLessThan(usual / 2);
    expect(await looks(0.25)).toBeGreaterThan(usual * 2);
  });

  it.each([0, -1, 101, Number.NaN])('back-off %d is refused', (backoff) => {
    expect(() => client({ backoff })).toThrow(LockUsageError);
  });
});

describe('the hand-over inside the process', () => {
  it('uses the fences of one block in order, under one token and without a call', async () => {
    client({ handOver: { count: 3 } });
    const seen: { fence: number; token: string }[] = [];
    await Promise.all(
      Array.from({ length: 6 }, () =>
        locks.withLock('k', async ({ fence, token }) => void seen.push({ fence, token })),
      ),
    );
    expect(store.calls.filter((call) => call === 'acquire')).toHaveLength(2);
    expect(new Set(seen.map(({ token }) => token)).size).toBe(2);
    const fences = seen.map(({ fence }) => fence);
    expect(fences).toEqual(fences.toSorted((a, b) => a - b));
    expect(new Set(fences).size).toBe(6);
  });

  it('at its bound the lock is really released, and whoever waits elsewhere gets it', async () => {
    client({ handOver: { count: 2 } });
    const order: string[] = [];
    const first = await locks.acquire('k');
    const here = Array.from({ length: 3 }, (_, index) =>
      locks.withLock('k', async () => void order.push(`here ${index}`)),
    );
    const elsewhere = locks.withLock('k', async () => void order.push('elsewhere'), { localLine: false });
    await settle();
    await first.release();
    await Promise.all([...here, elsewhere]);
    expect(order.indexOf('elsewhere')).toBe(1);
  });

  it('ends with the time of the grant, and where too little of a lease is left', async () => {
    client({ handOver: { ms: 100 } });
    const slow = async () => clock.jump(101);
    await Promise.all([locks.withLock('k', slow), locks.withLock('k', slow)]);
    expect(store.count('acquire')).toBe(2);
    const short = { ttlMs: 100, autoRenew: false };
    const half = async () => clock.jump(60);
    await Promise.all([locks.withLock('s', half, short), locks.withLock('s', async () => undefined, short)]);
    expect(store.count('acquire')).toBe(4);
  });

  it('goes only to a waiter who asked for the same time', async () => {
    client();
    await Promise.all([
      locks.withLock('k', async () => undefined, { ttlMs: 1000 }),
      locks.withLock('k', async () => undefined, { ttlMs: 2000 }),
    ]);
    expect(store.count('acquire')).toBe(2);
  });

  it('a holder that lost its lease does not hand it on', async () => {
    client();
    const lost = await locks.acquire('k', { ttlMs: 1000, autoRenew: false });
    const next = locks.acquire('k', { ttlMs: 1000, autoRenew: false });
    await clock.advance(1100);
    const current = await next;
    expect(current.token).not.toBe(lost.token);
    expect(await lost.release()).toBe('lost');
    current.assertHeld();
    expect(await current.release()).toBe('released');
  });
});

describe('re-entry', () => {
  it('is refused with a typed error instead of waiting for itself', async () => {
    client();
    const inner = locks.withLock('k', () => locks.withLock('k', async () => undefined));
    await expect(inner).rejects.toBeInstanceOf(LockUsageError);
    await expect(locks.withLock('k', () => locks.acquire('k'))).rejects.toBeInstanceOf(LockUsageError);
    const batch = locks.withLock('k', () => locks.batch('k', 1, async (items) => items));
    await expect(batch).rejects.toBeInstanceOf(LockUsageError);
  });

  it('where it is allowed takes the lock again without a call, and releases it at the end of the outermost', async () => {
    client();
    const reentrant = { reentrant: true };
    await locks.withLock('k', async (outer) => {
      await locks.withLock(
        'k',
        async (inner) => {
          expect(inner.fence).toBe(outer.fence);
          await inner.release();
        },
        reentrant,
      );
      expect(store.calls).toEqual(['acquire']);
      outer.assertHeld();
    });
    expect(store.calls).toEqual(['acquire', 'release']);
  });

  it('is not for a parallel branch', async () => {
    client();
    const reentrant = { reentrant: true };
    const branches = locks.withLock('k', () =>
      Promise.allSettled([
        locks.withLock('k', () => settle(), reentrant),
        locks.withLock('k', async () => undefined, reentrant),
      ]),
    );
    expect((await branches).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('work that goes on after the body has ended is outside of the lock again', async () => {
    client();
    let later: Promise<string> | undefined;
    let go = () => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    await locks.withLock('k', async () => {
      later = gate.then(() => locks.withLock('k', async () => 'later'));
    });
    go();
    expect(await later).toBe('later');
    expect(store.count('acquire')).toBe(2);
  });

  it('a part of several keys cannot be taken again beside new ones', async () => {
    client();
    const inner = locks.withLock('a', () => locks.withLock(['a', 'b'], async () => undefined, { reentrant: true }));
    await expect(inner).rejects.toThrow('take all keys together');
  });
});

describe('close', () => {
  it('lets holders finish, and takes nothing from them within the grace', async () => {
    client();
    const lease = await locks.acquire('k');
    const closing = locks.close();
    await clock.advance(1000);
    lease.assertHeld();
    expect(await lease.release()).toBe('released');
    await closing;
    expect(clock.timers).toBe(0);
  });

  it('releases after the grace what is left, and tells its holder', async () => {
    client({ closeGraceMs: 1000 });
    const lease = await locks.acquire('k');
    const { signal } = lease;
    const closing = locks.close();
    await clock.advance(1000);
    await closing;
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect((await store.real.inspect('k')).held).toBe(false);
  });
});

describe('the options', () => {
  it('a lock inside a transaction is refused where the application says so', async () => {
    client({ inTransaction: () => true });
    await expect(locks.acquire('k')).rejects.toBeInstanceOf(LockUsageError);
    expect(store.calls).toEqual([]);
  });

  it('an observer that throws breaks nothing', async () => {
    client({
      onEvent: () => {
        throw new Error('observer');
      },
    });
    expect(await locks.withLock('k', async () => 1)).toBe(1);
  });

  it('the state of idle keys is bounded, and obtain gives the same object while it is kept', async () => {
    client({ registrySize: 10 });
    const held = await locks.acquire('held');
    const pooled = locks.obtain('held');
    for (let index = 0; index < 100; index += 1) {
      await locks.withLock(`k:${index}`, async () => undefined);
      locks.obtain(`k:${index}`);
    }
    expect(locks.stats().keysKept).toBeLessThanOrEqual(10);
    expect(locks.obtain('held')).toBe(pooled);
    expect(await pooled.tryAcquire()).toBeNull();
    await held.release();
    expect(await pooled.withLock(async ({ key }) => key)).toBe('held');
  });

  it('await using releases at the end of the block', async () => {
    client();
    {
      await using lease = await locks.acquire('k');
      lease.assertHeld();
    }
    expect((await store.real.inspect('k')).held).toBe(false);
  });
});
