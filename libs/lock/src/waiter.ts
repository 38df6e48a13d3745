import type { FifoNode } from './fifo.js';
import type { Lease } from './lease.js';
import type { ResolvedOptions } from './options.js';
import type { Clock } from './ports/clock.js';
import type { Strategy } from './strategies/strategy.js';

/** One caller who waits. Settled exactly once, by whoever comes first: grant, deadline, signal, failure. */
export class Waiter {
  readonly startedAt: number;
  /** On the local clock; a single attempt has none, the store's own deadline ends it. */
  readonly deadline: number;
  readonly lease: Promise<Lease | null>;
  node?: FifoNode<Waiter>;
  #resolve!: (lease: Lease | null) => void;
  #reject!: (error: Error) => void;
  #onAbort?: () => void;

  constructor(
    private readonly clock: Clock,
    readonly options: ResolvedOptions,
    readonly strategy: Strategy,
    /** One attempt; null when busy. */
    readonly once: boolean,
  ) {
    this.startedAt = clock.now();
    this.deadline = once ? Infinity : this.startedAt + options.waitMs;
    this.lease = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get waitedMs(): number {
    return this.clock.now() - this.startedAt;
  }

  onAbort(callback: () => void): void {
    this.#onAbort = callback;
    this.options.signal?.addEventListener('abort', callback, { once: true });
  }

  resolve(lease: Lease | null): void {
    this.#unlisten();
    this.#resolve(lease);
  }

  reject(error: Error): void {
    this.#unlisten();
    this.#reject(error);
  }

  #unlisten(): void {
    if (this.#onAbort) this.options.signal?.removeEventListener('abort', this.#onAbort);
  }
}
