import assert from 'node:assert/strict';
import {
  LockAbortedError,
  LockBusyError,
  LockLostError,
  LockQueueFullError,
  LockUsageError,
  LockWaitTimeoutError,
  type LockError,
} from '../errors.js';
import { createLocks, type Locks } from '../locks.js';
import type { LocksOptions } from '../locks-options.js';
import type { StrategyName } from '../options.js';
import { sleep, systemClock } from '../ports/clock.js';
import { systemRandom } from '../ports/random.js';
import type { StoreFactory } from '../stores/store.js';

/** What vitest, jest and node:test have in common. */
export interface TestRunner {
  describe: (name: string, body: () => void) => void;
  it: (name: string, body: () => Promise<void>) => void;
}

export interface ContractSubject {
  /** Called for every test. Clients of one factory must exclude each other; a factory per test is not needed. */
  store(): Promise<StoreFactory> | StoreFactory;
  strategies: readonly StrategyName[];
}

const open = new Set<Locks>();
let keys = 0;

/**
 * What every store under every strategy must do, against the real thing and in real time. Run it for a store of your own:
 * `lockContract({ describe, it }, 'mine', { store: () => myStore(), strategies: ['pubsub', 'spin'] })`.
 */
export function lockContract({ describe, it }: TestRunner, name: string, subject: ContractSubject): void {
  for (const strategy of subject.strategies) {
    describe(`${name} with ${strategy}`, () => {
      const client = async (options: Partial<LocksOptions> = {}): Promise<Locks> => {
        const store = await subject.store();
        const defaults = { strategy, ttlMs: 2000, waitMs: 5000, recheckMs: 200, ...options.defaults };
        const locks = createLocks({ store, ...options, defaults });
        open.add(locks);
        return locks;
      };
      const test = (title: string, body: (key: string) => Promise<void>) =>
        it(title, async () => {
          keys += 1;
          try {
            await body(`contract:${process.pid}:${strategy}:${keys}`);
          } finally {
            await Promise.all([...open].map((locks) => locks.close()));
            open.clear();
          }
        });
      exclusion(client, test);
      if (strategy === 'queue') line(client, test);
      else severalKeys(client, test);
      refusals(client, test);
      ownership(client, test);
      verbs(client, subject, test);
    });
  }
}

type NewClient = (options?: Partial<LocksOptions>) => Promise<Locks>;
type Test = (title: string, body: (key: string) => Promise<void>) => void;

function exclusion(client: NewClient, test: Test): void {
  test('two leases of a key never overlap, and fences rise in the order of the grants', async (key) => {
    const clients = [await client(), await client()];
    const fences: number[] = [];
    let inside = 0;
    const body = async ({ fence }: { fence: number }) => {
      inside += 1;
      assert.equal(inside, 1, 'two bodies ran at once');
      fences.push(fence);
      await new Promise(setImmediate);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 24 }, (_, index) => clients[index % 2]!.withLock(key, body)));
    assert.equal(fences.length, 24);
    assert.deepEqual(
      fences,
      fences.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(fences).size, 24);
  });

  test('a waiter of another client goes on when the lock is released', async (key) => {
    const [one, two] = [await client(), await client()];
    const first = await one.acquire(key);
    let granted = false;
    const waiting = two.acquire(key).then((lease) => {
      granted = true;
      return lease;
    });
    await new Promise(setImmediate);
    assert.equal(granted, false);
    assert.equal(await first.release(), 'released');
    const second = await waiting;
    assert.ok(second.fence > first.fence);
    assert.equal(await second.release(), 'released');
  });
}

function severalKeys(client: NewClient, test: Test): void {
  test('several keys are taken together or not at all', async (key) => {
    const [one, two] = [await client(), await client()];
    const held = await one.acquire(`${key}:b`);
    assert.equal(await two.tryAcquire([`${key}:a`, `${key}:b`]), null);
    const free = await one.tryAcquire(`${key}:a`);
    assert.ok(free, 'the refused attempt kept a key');
    await Promise.all([held.release(), free.release()]);
    const both = await two.acquire([`${key}:b`, `${key}:a`, `${key}:b`]);
    assert.deepEqual(both.keys, [`${key}:a`, `${key}:b`]);
    assert.equal(await one.tryAcquire(`${key}:a`), null);
    assert.equal(await one.tryAcquire(`${key}:b`), null);
    await both.release();
  });

  test('opposite orders of two keys do not deadlock', async (key) => {
    const clients = [await client(), await client()];
    const orders = [
      [`${key}:a`, `${key}:b`],
      [`${key}:b`, `${key}:a`],
    ];
    let done = 0;
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        clients[index % 2]!.withLock(orders[index % 2]!, async () => {
          done += 1;
        }),
      ),
    );
    assert.equal(done, 12);
  });
}

function line(client: NewClient, test: Test): void {
  const lineOf = async (locks: Locks, key: string, length: number) => {
    while ((await locks.inspect(key)).queued < length) await new Promise(setImmediate);
  };

  test('first come, first served, whoever asks from where', async (key) => {
    const clients = [await client(), await client(), await client()];
    const held = await clients[0]!.acquire(key);
    const order: number[] = [];
    const waiting: Promise<void>[] = [];
    for (let index = 0; index < 12; index += 1) {
      waiting.push(
        clients[index % 3]!.withLock(key, async () => {
          order.push(index);
        }),
      );
      await lineOf(clients[0]!, key, index + 1);
    }
    await held.release();
    await Promise.all(waiting);
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
    assert.equal((await clients[0]!.inspect(key)).queued, 0);
  });

  test('priority 1 goes before 10, and keeps the order within a class', async (key) => {
    const locks = await client();
    const held = await locks.acquire(key);
    const order: string[] = [];
    const waiting: Promise<void>[] = [];
    for (const [index, priority] of [10, 1, 10, 1].entries()) {
      const body = async () => void order.push(`${priority}:${index}`);
      waiting.push(locks.withLock(key, body, { priority }));
      await lineOf(locks, key, index + 1);
    }
    await held.release();
    await Promise.all(waiting);
    assert.deepEqual(order, ['1:1', '1:3', '10:0', '10:2']);
  });

  test('a full line refuses at once with the place and an estimate', async (key) => {
    const [one, two] = [await client(), await client()];
    const held = await one.acquire(key);
    const waiting = one.withLock(key, async () => undefined, { maxWaiters: 1 });
    await lineOf(one, key, 1);
    const error = await refusal(two.acquire(key, { maxWaiters: 1 }), LockQueueFullError);
    assert.equal(error.place, 2);
    assert.ok(error.estimateMs >= 0);
    await held.release();
    await waiting;
  });

  test('who gives up leaves no entry, and what was meant for it goes to the next', async (key) => {
    const [one, two] = [await client(), await client()];
    const held = await one.acquire(key);
    const abort = new AbortController();
    const given = refusal(two.acquire(key, { signal: abort.signal }), LockAbortedError);
    await lineOf(one, key, 1);
    const next = one.acquire(key);
    await lineOf(one, key, 2);
    const released = held.release();
    abort.abort();
    await Promise.all([given, released]);
    await (await next).release();
    assert.equal((await one.inspect(key)).queued, 0);
  });

  test('one attempt does not jump the line, and does not stand in it', async (key) => {
    const [one, two] = [await client(), await client()];
    const held = await one.acquire(key);
    const waiting = one.acquire(key);
    await lineOf(one, key, 1);
    assert.equal(await two.tryAcquire(key), null);
    assert.equal((await one.inspect(key)).queued, 1);
    await held.release();
    await (await waiting).release();
  });

  test('several keys at once are refused', async (key) => {
    const locks = await client();
    await refusal(locks.acquire([`${key}:a`, `${key}:b`]), LockUsageError);
  });
}

function refusals(client: NewClient, test: Test): void {
  test('a wait ends at waitMs with its own error, and leaves nothing behind', async (key) => {
    const [one, two] = [await client(), await client()];
    const held = await one.acquire(key);
    const error = await refusal(two.acquire(key, { waitMs: 60 }), LockWaitTimeoutError);
    assert.ok(error.waitedMs >= 55, `waited ${error.waitedMs} ms`);
    assert.equal(error.key, key);
    assert.equal(two.stats().waiters, 0);
    await held.release();
    const next = await one.tryAcquire(key);
    assert.ok(next, 'the abandoned wait took the lock');
    await next.release();
  });

  test('one attempt on a held lock is null, and busy where an answer is due', async (key) => {
    const [one, two] = [await client(), await client()];
    const held = await one.acquire(key);
    for (const locks of [one, two]) {
      assert.equal(await locks.tryAcquire(key), null);
      await refusal(locks.acquire(key, { waitMs: 0 }), LockBusyError);
    }
    await held.release();
  });

  test('an aborted signal ends the wait at once', async (key) => {
    const [one, two] = [await client(), await client()];
    const held = await one.acquire(key);
    const abort = new AbortController();
    const waiting = two.acquire(key, { signal: abort.signal });
    abort.abort();
    await refusal(waiting, LockAbortedError);
    await refusal(two.acquire(key, { signal: abort.signal }), LockAbortedError);
    assert.equal(two.stats().waiters, 0);
    await held.release();
  });

  test('a closed client refuses new waits and those under way', async (key) => {
    const [one, two] = [await client(), await client()];
    const held = await one.acquire(key);
    const waiting = refusal(two.acquire(key), LockAbortedError);
    await two.close();
    await waiting;
    await refusal(two.acquire(key), LockAbortedError);
    assert.equal(await held.release(), 'released');
  });

  test('bad keys and options are refused before anything is asked', async (key) => {
    const locks = await client();
    for (const bad of ['', 'a{b}', 'a\nb', 'x'.repeat(513), 'fence:a', 'queue:a', 'release:a']) {
      await refusal(locks.acquire(bad), LockUsageError);
    }
    for (const bad of [{ ttlMs: Number.NaN }, { ttlMs: -1 }, { waitMs: 86_400_001 }, { recheckMs: 0 }, { ttl: 5 }]) {
      await refusal(locks.acquire(key, bad), LockUsageError);
    }
  });
}

function ownership(client: NewClient, test: Test): void {
  test('after expiry the new holder is safe from the old one, whose lease is lost by its own clock', async (key) => {
    const [one, two] = [await client(), await client()];
    const old = await one.acquire(key, { ttlMs: 500, autoRenew: false });
    const { signal } = old;
    const current = await two.acquire(key);
    assert.ok(current.fence > old.fence);
    assert.equal(old.remainingMs, 0);
    assert.throws(() => old.assertHeld(), LockLostError);
    assert.ok(signal.aborted && signal.reason instanceof LockLostError);
    assert.equal(await old.release(), 'lost');
    assert.equal((await two.inspect(key)).token, current.token);
    assert.equal(await current.release(), 'released');
    assert.equal(await current.release(), 'released');
  });

  test('the watchdog keeps a lease over several TTLs, and not after its release', async (key) => {
    const [one, two] = [await client(), await client()];
    const lease = await one.acquire(key, { ttlMs: 800 });
    await sleep(systemClock, 2000);
    lease.assertHeld();
    assert.equal(await two.tryAcquire(key), null);
    await lease.release();
    await sleep(systemClock, 150);
    assert.equal(await two.isLocked(key), false);
  });

  test('extend sets the time left, also to less, and fails on a lease that was taken away', async (key) => {
    const locks = await client();
    const lease = await locks.acquire(key, { ttlMs: 1500, autoRenew: false });
    for (const ms of [20_000, 5000, 9000]) {
      await lease.extend(ms);
      const { remainingMs } = await locks.inspect(key);
      assert.ok(lease.remainingMs > ms - 1500 && lease.remainingMs <= remainingMs + 50 && remainingMs <= ms);
    }
    assert.equal(await locks.forceRelease(key), true);
    await assert.rejects(lease.extend(5000), LockLostError);
    assert.throws(() => lease.assertHeld(), LockLostError);
    assert.equal(await lease.release(), 'lost');
    assert.equal(await locks.forceRelease(key), false);
  });

  test('a loss known before the body ends is thrown, unless the body said that it is settled', async (key) => {
    const locks = await client();
    const options = { ttlMs: 500, autoRenew: false };
    const late = () => sleep(systemClock, 600);
    await refusal(locks.withLock(key, late, options), LockLostError);
    const settled = locks.withLock(
      key,
      async (lease) => {
        lease.settled();
        await late();
        return 'committed';
      },
      options,
    );
    assert.equal(await settled, 'committed');
  });
}

function verbs(client: NewClient, subject: ContractSubject, test: Test): void {
  test('inspect tells holder, time and fence', async (key) => {
    const locks = await client();
    assert.equal((await locks.inspect(key)).held, false);
    const lease = await locks.acquire(key);
    const held = await locks.inspect(key);
    assert.equal(held.token, lease.token);
    assert.ok(held.remainingMs > 1000 && held.remainingMs <= 2000);
    assert.ok(held.fence >= lease.fence);
    await lease.release();
    assert.equal(await locks.isLocked(key), false);
  });

  test('extend takes no time off a lease that is renewed', async (key) => {
    const locks = await client();
    const lease = await locks.acquire(key, { ttlMs: 20_000 });
    await lease.extend(1000);
    assert.ok(lease.remainingMs > 15_000 && (await locks.inspect(key)).remainingMs > 15_000);
    await lease.release();
  });

  test('acquire, renew and release are idempotent by token, and a renewal never creates a lock', async (key) => {
    const ports = { clock: systemClock, random: systemRandom, processId: 'contract' };
    const store = (await subject.store())(ports);
    const request = { keys: [key], token: 't1', ttlMs: 1000, fences: 1, onLateGrant: () => undefined };
    assert.deepEqual(await store.renew([{ keys: [key], token: 't1', ttlMs: 1000 }], 1000), ['lost']);
    assert.equal(await store.shorten({ keys: [key], token: 't1', ttlMs: 1000 }), 'lost');
    assert.equal((await store.inspect(key)).held, false);
    const first = await store.acquire(request);
    const again = await store.acquire(request);
    assert.ok(first.granted && again.granted && again.fence > first.fence);
    assert.equal((await store.acquire({ ...request, token: 't2' })).granted, false);
    assert.deepEqual(await store.renew([{ keys: [key], token: 't2', ttlMs: 1000 }], 1000), ['lost']);
    assert.equal(await store.shorten({ keys: [key], token: 't2', ttlMs: 10 }), 'lost');
    assert.equal(await store.release([key], 't2'), false);
    assert.equal(await store.release([key], 't1'), true);
    assert.equal(await store.release([key], 't1'), false);
    await store.close();
  });

  test('fences drawn as a block, and those raised by a guard, are never drawn again', async (key) => {
    const ports = { clock: systemClock, random: systemRandom, processId: 'contract' };
    const store = (await subject.store())(ports);
    const request = { keys: [key], token: 't1', ttlMs: 1000, fences: 10, onLateGrant: () => undefined };
    const block = await store.acquire(request);
    await store.release([key], 't1');
    const next = await store.acquire({ ...request, token: 't2' });
    assert.ok(block.granted && next.granted && next.fence >= block.fence + 10);
    assert.equal(await store.raise([key], 't1', next.fence + 1000), false);
    assert.equal(await store.raise([key], 't2', next.fence + 1_000_000_000), true);
    await store.release([key], 't2');
    const above = await store.acquire({ ...request, token: 't3' });
    assert.ok(above.granted && above.fence > next.fence + 1_000_000_000);
    await store.release([key], 't3');
    await store.close();
  });
}

async function refusal<E extends LockError>(
  promise: Promise<unknown>,
  type: abstract new (...args: never[]) => E,
): Promise<E> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof type, `expected ${type.name}, got ${String(error)}`);
    return error;
  }
  throw new assert.AssertionError({ message: `expected ${type.name}, but it succeeded` });
}
