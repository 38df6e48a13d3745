import { Batcher, type RunBatch } from './batch.js';
import {
  LockAbortedError,
  LockBackendError,
  LockBusyError,
  LockLostError,
  LockUsageError,
  StaleFenceError,
} from './errors.js';
import { guarded, type RefusalOutcome } from './events.js';
import { Frames } from './frames.js';
import { targetOf, type Target } from './key.js';
import type { Lease } from './lease.js';
import { Lock } from './lock.js';
import { bounded, factor, type LocksOptions } from './locks-options.js';
import { defaultOptions, resolveOptions, type LockOptions, type ResolvedOptions } from './options.js';
import type { Parts } from './parts.js';
import { Place } from './place.js';
import { systemClock } from './ports/clock.js';
import { systemRandom } from './ports/random.js';
import { Registry } from './registry.js';
import type { LockStore, StoredLock } from './stores/store.js';
import { strategies } from './strategies/index.js';
import type { Strategy } from './strategies/strategy.js';
import { Tidier } from './tidier.js';
import { Waiter } from './waiter.js';
import { Watchdog } from './watchdog.js';

export interface LocksStats {
  holds: number;
  waiters: number;
  /** Keys with a holder or a waiter in this process. */
  keysInUse: number;
  /** Keys whose state is kept, in use or not. */
  keysKept: number;
  /** Clean-ups of unknown outcomes that are under way. */
  tidying: number;
}

export type InspectedLock = StoredLock & { key: string; waitersHere: number };

type Body<R> = (lease: Lease) => Promise<R>;

/** The one client of a store: it owns waiting, holding, renewing and releasing. */
export class Locks {
  readonly #parts: Parts;
  readonly #store: LockStore;
  readonly #defaults: ResolvedOptions;
  readonly #frames = new Frames();
  readonly #places: Registry<Place>;
  readonly #pool: Registry<{ lock: Lock; inUse: boolean }>;
  readonly #batchers = new Map<string, Batcher<never, never>>();
  readonly #batchSize: number;
  readonly #closeGraceMs: number;
  readonly #inTransaction: () => boolean;
  #closing?: Promise<void>;
  #whenIdle?: () => void;

  constructor(options: LocksOptions) {
    const clock = options.clock ?? systemClock;
    const random = options.random ?? systemRandom;
    const observe = guarded(options.onEvent);
    this.#defaults = resolveOptions(defaultOptions, options.defaults);
    this.#batchSize = bounded('batchSize', options.batchSize ?? 200, 10_000);
    this.#closeGraceMs = bounded('closeGraceMs', options.closeGraceMs ?? 5000, 86_400_000);
    this.#inTransaction = options.inTransaction ?? (() => false);
    const registrySize = bounded('registrySize', options.registrySize ?? 10_000, 1_000_000);
    this.#store = options.store({ clock, random, processId: random.token().slice(0, 12) });
    const watchdog = new Watchdog(clock, this.#store, observe, ({ target, lease }) => {
      if (!lease) return;
      const { heldMs, remainingMs, strategy } = lease;
      observe?.({ type: 'long_hold', key: target.key, strategy, heldMs, remainingMs });
    });
    this.#parts = {
      clock,
      random,
      store: this.#store,
      watchdog,
      tidier: new Tidier(clock, this.#store),
      observe,
      handOver: {
        count: bounded('handOver.count', options.handOver?.count ?? 64, 1000),
        ms: bounded('handOver.ms', options.handOver?.ms ?? 250, 60_000),
      },
      backendGraceMs: bounded('backendGraceMs', options.backendGraceMs ?? 1000, 86_400_000),
      backoff: factor('backoff', options.backoff ?? 1),
    };
    this.#places = new Registry(registrySize);
    this.#pool = new Registry(registrySize);
    // Subscribing takes a moment: done now, the first waiter finds it done.
    if (strategies[this.#defaults.strategy].listens) this.#store.wakeups?.start();
  }

  /** Runs the body under the lock and releases it, whatever happens. */
  async withLock<R>(keys: string | readonly string[], body: Body<R>, options?: LockOptions): Promise<R> {
    const target = this.#target(keys);
    const resolved = resolveOptions(this.#defaults, options, target.key);
    const outer = this.#frames.covering(target.keys, target.key, resolved.reentrant);
    if (outer) return this.#again(outer.nested(), target, body);
    const startedAt = this.#parts.clock.now();
    for (let retried = false; ; retried = true) {
      const waitedMs = Math.round(this.#parts.clock.now() - startedAt);
      const left = retried ? { ...resolved, waitMs: Math.max(0, resolved.waitMs - waitedMs) } : resolved;
      // Not through acquire(): what a waiter keeps alive is what a thousand waiters cost.
      const lease = (await this.#take(target, left, left.waitMs === 0)) ?? busy(target);
      try {
        return await this.#underLease(lease, target, body);
      } catch (error) {
        if (retried || !(await this.#raised(lease, error))) throw error;
      } finally {
        await lease.release();
      }
    }
  }

  /** Throws LockWaitTimeoutError at the deadline; with `waitMs: 0`, LockBusyError after one attempt. */
  async acquire(keys: string | readonly string[], options?: LockOptions): Promise<Lease> {
    const target = this.#target(keys);
    const resolved = resolveOptions(this.#defaults, options, target.key);
    this.#frames.covering(target.keys, target.key, false);
    return (await this.#take(target, resolved, resolved.waitMs === 0)) ?? busy(target);
  }

  /** One attempt: null when somebody holds the lock or is in line for it. Throws when nobody can know. */
  async tryAcquire(keys: string | readonly string[], options?: LockOptions): Promise<Lease | null> {
    const target = this.#target(keys);
    return this.#take(target, resolveOptions(this.#defaults, options, target.key), true);
  }

  /**
   * Hands in one item. Whoever gets the lock works on all items that wait in this process, in order of arrival; every
   * caller gets its own result. Give the same function in every call of a key.
   */
  async batch<T, R>(key: string, item: T, runBatch: RunBatch<T, R>, options: LockOptions = {}): Promise<R> {
    const target = targetOf(key);
    const resolved = resolveOptions(this.#defaults, options, key);
    this.#frames.covering(target.keys, key, false);
    this.#refuseWhenClosing(key);
    let batcher = this.#batchers.get(key) as Batcher<T, R> | undefined;
    if (!batcher) {
      const turns = {
        clock: this.#parts.clock,
        turn: (turnKey: string, body: Body<void>, given: LockOptions) =>
          this.#frames.outside(() => this.withLock(turnKey, body, given)),
        onRefused: (refusedKey: string, outcome: RefusalOutcome, waitedMs: number) =>
          this.#parts.observe?.({ type: 'refused', key: refusedKey, strategy: resolved.strategy, outcome, waitedMs }),
        onBatch: (batchKey: string, size: number) => this.#parts.observe?.({ type: 'batch', key: batchKey, size }),
        onEmpty: (batchKey: string) => this.#batchers.delete(batchKey),
      };
      batcher = new Batcher<T, R>(turns, key, this.#batchSize);
      this.#batchers.set(key, batcher as unknown as Batcher<never, never>);
    }
    return batcher.add(item, runBatch, resolved, options);
  }

  /** The key's pooled lock object: the same one for the same key, while it is kept. */
  obtain(key: string): Lock {
    targetOf(key);
    const place = () => this.#places.peek(key);
    return this.#pool.get(key, () => ({
      lock: new Lock(this, key),
      get inUse() {
        return place()?.inUse ?? false;
      },
    })).lock;
  }

  /** What the store knows of the key. Costs one command and changes nothing. */
  async inspect(key: string): Promise<InspectedLock> {
    const target = targetOf(key);
    const stored = await this.#asked(target, () => this.#store.inspect(key));
    return { key, ...stored, waitersHere: this.#places.peek(target.id)?.waiters ?? 0 };
  }

  async isLocked(key: string): Promise<boolean> {
    return (await this.inspect(key)).held;
  }

  /**
   * For operators: takes the lock away from whoever is seen to hold it, whose next renewal finds its lease lost. True when
   * that one held it until then.
   */
  async forceRelease(key: string): Promise<boolean> {
    return this.#asked(targetOf(key), () => this.#store.forceRelease(key));
  }

  /** Refuses new waits and those under way, lets holders finish, releases the rest, and closes what the store opened. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  stats(): LocksStats {
    let waiters = 0;
    let keysInUse = 0;
    for (const place of this.#places.values()) {
      waiters += place.waiters;
      if (place.inUse) keysInUse += 1;
    }
    for (const batcher of this.#batchers.values()) waiters += batcher.waiting;
    const { watchdog, tidier } = this.#parts;
    return { holds: watchdog.size, waiters, keysInUse, keysKept: this.#places.size, tidying: tidier.size };
  }

  async #again<R>(inner: Lease, target: Target, body: Body<R>): Promise<R> {
    try {
      return await this.#underLease(inner, target, body);
    } finally {
      await inner.release();
    }
  }

  async #underLease<R>(lease: Lease, target: Target, body: Body<R>): Promise<R> {
    let result: R;
    try {
      result = await this.#frames.run(lease, target.keys, async () => body(lease));
    } catch (error) {
      const loss = lossOf(lease);
      if (!loss || error instanceof LockLostError) throw error;
      throw new LockLostError(loss.reason, { key: lease.key, waitedMs: lease.waitedMs, cause: error });
    }
    const loss = lossOf(lease);
    if (loss) throw loss;
    return result;
  }

  /** The store fell behind a guard (it lost its memory): counters go above what the guard saw, and the work may be repeated. */
  async #raised(lease: Lease, error: unknown): Promise<boolean> {
    if (!(error instanceof StaleFenceError) || error.fence !== lease.fence) return false;
    return lease.raiseFence(error.guardFence).catch(() => false);
  }

  /** A key that is in use here has been looked at before. */
  #target(keys: string | readonly string[]): Target {
    const known = typeof keys === 'string' ? this.#places.peek(keys)?.target : undefined;
    return known?.keys.length === 1 ? known : targetOf(keys);
  }

  #take(target: Target, options: ResolvedOptions, once: boolean): Promise<Lease | null> {
    this.#refuseWhenClosing(target.key);
    const strategy = strategies[options.strategy] as Strategy | undefined;
    if (!strategy) throw new LockUsageError(`Unknown strategy "${String(options.strategy)}".`, target.key);
    if (strategy.linesUp && !this.#store.line) {
      throw new LockUsageError(
        `Store "${this.#store.name}" keeps no line: strategy "${strategy.name}" needs one.`,
        target.key,
      );
    }
    if (strategy.linesUp && target.keys.length > 1) {
      throw new LockUsageError(
        `Strategy "${strategy.name}" takes one key at a time: use "pubsub" for several.`,
        target.key,
      );
    }
    const { maxTtlMs = Infinity, name } = this.#store;
    if (options.ttlMs > maxTtlMs) {
      throw new LockUsageError(`ttlMs is at most ${maxTtlMs} in store "${name}", not ${options.ttlMs}.`, target.key);
    }
    if (this.#inTransaction()) {
      throw new LockUsageError(
        `Take "${target.key}" before the transaction begins: commit comes before release.`,
        target.key,
      );
    }
    if (options.signal?.aborted) throw new LockAbortedError('signal', { key: target.key });
    if (strategy.listens) this.#store.wakeups?.start();
    const place = this.#places.get(target.id, () => new Place(this.#parts, target, () => this.#tellIdle()));
    return place.join(new Waiter(this.#parts.clock, options, strategy, once));
  }

  async #asked<T>(target: Target, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw new LockBackendError(error instanceof Error ? error.message : String(error), {
        key: target.key,
        cause: error,
      });
    }
  }

  #refuseWhenClosing(key: string): void {
    if (this.#closing) throw new LockAbortedError('closing', { key });
  }

  #tellIdle(): void {
    if (this.#parts.watchdog.size === 0) this.#whenIdle?.();
  }

  async #close(): Promise<void> {
    const { clock, watchdog, tidier } = this.#parts;
    const contests: Promise<void>[] = [];
    for (const place of this.#places.values()) {
      for (const line of place.lines()) {
        line.refuseAll(
          (waiter) => new LockAbortedError('closing', { key: place.target.key, waitedMs: waiter.waitedMs }),
        );
        contests.push(line.contestOver);
      }
    }
    await Promise.all(contests);
    if (watchdog.size > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
      const grace = clock.setTimeout(() => this.#whenIdle?.(), this.#closeGraceMs);
      await idle;
      clock.clearTimeout(grace);
    }
    const left = [...watchdog.holds];
    await Promise.all(left.map(async ({ lease }) => lease?.surrender('the client was closed')));
    await tidier.idle();
    await this.#store.close();
  }
}

export function createLocks(options: LocksOptions): Locks {
  return new Locks(options);
}

function busy(target: Target): never {
  throw new LockBusyError({ key: target.key });
}

/** Known before the release, by the clock: then the outcome is unknown, unless the body said that it is settled. */
function lossOf(lease: Lease): LockLostError | undefined {
  return lease.isSettled ? undefined : lease.loss;
}
