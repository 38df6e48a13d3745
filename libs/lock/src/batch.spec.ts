import { describe, expect, it } from 'vitest';
import { LockAbortedError, LockBackendError, LockLostError, LockUsageError, LockWaitTimeoutError } from './errors.js';
import { createLocks } from './locks.js';
import type { Lease } from './lease.js';
import { ManualClock, settle } from './testing/manual-clock.js';
import { ScriptedStore } from './testing/scripted-store.js';

function setUp(batchSize = 100) {
  const clock = new ManualClock();
  const store = new ScriptedStore();
  const locks = createLocks({ store: store.factory, clock, batchSize });
  return { clock, store, locks };
}

describe('batch', () => {
  it('works for all who wait, in order of arrival, and gives each its own answer', async () => {
    const { locks } = setUp(10);
    const batches: number[][] = [];
    const run = async (items: number[]) => {
      batches.push(items);
      return items.map((item) => (item % 5 === 0 ? new RangeError(`no ${item}`) : item * 10));
    };
    const asked = Array.from({ length: 25 }, (_, index) => locks.batch('k', index + 1, run));
    const results = await Promise.allSettled(asked);
    await settle();
    expect(batches.flat()).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
    expect(batches.every(({ length }) => length <= 10)).toBe(true);
    const own = (item: number) => (item % 5 === 0 ? { reason: new RangeError(`no ${item}`) } : { value: item * 10 });
    expect(results).toMatchObject(results.map((_, index) => own(index + 1)));
  });

  it('releases the lock after each batch, before anybody goes on with an answer', async () => {
    const { store, locks } = setUp(10);
    const asked = Array.from({ length: 25 }, async (_, index) => {
      await locks.batch('k', index, async (items: number[]) => items);
      return store.count('release');
    });
    const released = await Promise.all(asked);
    // Who was there when the first took the lock, in tens.
    expect(store.calls).toEqual(['acquire', 'release', 'acquire', 'release', 'acquire', 'release']);
    expect(released).toEqual(Array.from({ length: 25 }, (_, index) => 1 + Math.floor(index / 10)));
  });

  it('fences rise from batch to batch', async () => {
    const { locks } = setUp(2);
    const fences: number[] = [];
    const run = async (items: number[], lease: Lease) => {
      fences.push(lease.fence);
      return items;
    };
    await Promise.all([1, 2, 3, 4, 5, 6].map((item) => locks.batch('k', item, run)));
    expect(fences.length).toBeGreaterThan(2);
    expect(fences).toEqual([...new Set(fences)].toSorted((a, b) => a - b));
  });

  it('lost before it was settled is unknown for everybody in it, and afterwards for nobody', async () => {
    const { clock, locks } = setUp();
    const lose = async (items: number[]) => {
      clock.jump(6000);
      return items;
    };
    const lost = await Promise.allSettled([1, 2].map((item) => locks.batch('k', item, lose)));
    for (const result of lost) expect(result).toMatchObject({ reason: { code: 'LOCK_LOST' } });
    const commit = async (items: number[], lease: Lease) => {
      lease.settled();
      clock.jump(6000);
      return items;
    };
    expect(await Promise.all([1, 2].map((item) => locks.batch('k', item, commit)))).toEqual([1, 2]);
    await settle();
  });

  it('an error of the work is the error of all in it; the next batch is not touched', async () => {
    const { locks } = setUp(2);
    let runs = 0;
    const run = async (items: number[]) => {
      runs += 1;
      if (runs === 2) throw new LockLostError('test', { key: 'k' });
      return items;
    };
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => locks.batch('k', item, run)));
    expect(results.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(2);
  });

  it('a caller who gives up is not worked for, and the others are', async () => {
    const { clock, locks } = setUp();
    const held = await locks.acquire('k');
    const seen: number[][] = [];
    const run = async (items: number[]) => {
      seen.push(items);
      return items;
    };
    const abort = new AbortController();
    const aborted = locks.batch('k', 1, run, { signal: abort.signal }).catch((error: unknown) => error);
    const late = locks.batch('k', 2, run, { waitMs: 50 }).catch((error: unknown) => error);
    const served = locks.batch('k', 3, run);
    abort.abort();
    await clock.advance(60);
    expect(await aborted).toBeInstanceOf(LockAbortedError);
    expect(await late).toBeInstanceOf(LockWaitTimeoutError);
    await held.release();
    expect(await served).toBe(3);
    expect(seen).toEqual([[3]]);
  });

  it('when all have given up nobody waits for the lock any more, and the next caller is served', async () => {
    const { clock, locks } = setUp();
    const held = await locks.acquire('k');
    const run = async (items: number[]) => items;
    const late = locks.batch('k', 1, run, { waitMs: 50 }).catch((error: unknown) => error);
    await clock.advance(60);
    expect(await late).toBeInstanceOf(LockWaitTimeoutError);
    expect(locks.stats().waiters).toBe(0);
    const next = locks.batch('k', 2, run);
    await held.release();
    expect(await next).toBe(2);
    await settle();
    expect(clock.timers).toBe(0);
  });

  it('a broken store fails everybody as broken', async () => {
    const { clock, store, locks } = setUp();
    for (let index = 0; index < 100; index += 1) store.next('acquire', () => Promise.reject(new Error('down')));
    const asked = Promise.allSettled([1, 2].map((item) => locks.batch('k', item, async (items: number[]) => items)));
    await clock.advance(1500);
    for (const result of await asked) expect(result).toMatchObject({ reason: expect.any(LockBackendError) as Error });
  });

  it('a function that loses an answer is a wrong call, and nobody is told a neighbour’s', async () => {
    const { locks } = setUp();
    const asked = [1, 2].map((item) => locks.batch('k', item, async () => [1]));
    for (const result of await Promise.allSettled(asked)) {
      expect(result).toMatchObject({ reason: expect.any(LockUsageError) as Error });
    }
  });
});

describe('the line of a batch', () => {
  it('is bounded: beyond maxWaiters a caller is refused at once with its place', async () => {
    const { clock, locks } = setUp();
    const held = await locks.acquire('k');
    const run = async (items: number[]) => items;
    const waiting = [1, 2].map((item) => locks.batch('k', item, run, { maxWaiters: 2 }));
    await clock.advance(20);
    await expect(locks.batch('k', 3, run, { maxWaiters: 2 })).rejects.toMatchObject({ place: 3, estimateMs: 20 });
    await held.release();
    expect(await Promise.all(waiting)).toEqual([1, 2]);
  });
});
