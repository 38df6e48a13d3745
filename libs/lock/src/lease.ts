import { LockLostError } from './errors.js';
import type { ReleaseOutcome } from './events.js';
import type { Hold } from './hold.js';
import type { Target } from './key.js';
import type { StrategyName } from './options.js';
import type { Clock } from './ports/clock.js';

/** What a lease can ask of the client that gave it. */
export interface LeaseKeeper {
  release(lease: Lease): Promise<ReleaseOutcome>;
  extend(lease: Lease, ms: number): Promise<void>;
  raise(lease: Lease, fence: number): Promise<boolean>;
}

export interface LeaseDetails {
  fence: number;
  waitedMs: number;
  store: string;
  strategy: StrategyName;
}

/** A held lock. It says by the local clock whether it still is one. */
export class Lease implements AsyncDisposable {
  readonly startedAt: number;
  #controller?: AbortController;
  #loss?: LockLostError;
  #releasing?: Promise<ReleaseOutcome>;
  #settled = false;
  readonly #nested = new Set<Lease>();

  constructor(
    private readonly clock: Clock,
    private readonly keeper: LeaseKeeper,
    /** @internal */
    readonly hold: Hold,
    private readonly details: LeaseDetails,
  ) {
    this.startedAt = clock.now();
  }

  get target(): Target {
    return this.hold.target;
  }

  /** The key; of several keys, all of them. */
  get key(): string {
    return this.hold.target.key;
  }

  get keys(): readonly string[] {
    return this.hold.target.keys;
  }

  get token(): string {
    return this.hold.token;
  }

  /** Larger than that of every earlier lease of each of the keys: a guard refuses whoever comes with a smaller one. */
  get fence(): number {
    return this.details.fence;
  }

  /** Fences of different stores cannot be compared: a guard keeps them apart by this name. */
  get store(): string {
    return this.details.store;
  }

  get strategy(): StrategyName {
    return this.details.strategy;
  }

  get waitedMs(): number {
    return this.details.waitedMs;
  }

  get heldMs(): number {
    return this.clock.now() - this.startedAt;
  }

  get remainingMs(): number {
    return this.#over() ? 0 : this.hold.remainingMs;
  }

  /** Undefined while the lease can be trusted. */
  get loss(): LockLostError | undefined {
    if (!this.#loss && !this.#releasing) this.hold.expireIfDue(this.clock.now());
    return this.#loss;
  }

  /** Aborted with a LockLostError when the lease is lost. Made on first use: most bodies never look. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.loss && !this.#controller.signal.aborted) this.#controller.abort(this.loss);
    return this.#controller.signal;
  }

  /** Call it before every COMMIT. Needs no timer and no answer from anywhere. */
  assertHeld(): void {
    if (this.loss) throw this.loss;
    if (this.#releasing) throw new LockLostError('it was released', { key: this.key });
  }

  /**
   * Sets the time left; of a lease that is renewed it is the least, for the watchdog goes on. Throws LockLostError when the
   * lease is no longer ours.
   */
  async extend(ms: number): Promise<void> {
    this.assertHeld();
    await this.keeper.extend(this, ms);
  }

  /** A guard has seen a higher fence than the store has: draw the next ones above it. False when the lease is not ours. */
  async raiseFence(fence: number): Promise<boolean> {
    return this.loss === undefined && (await this.keeper.raise(this, fence));
  }

  /** The effect is committed and was fenced: a loss noticed from here on is reported, not thrown over the result. */
  settled(): void {
    this.#settled = true;
  }

  get isSettled(): boolean {
    return this.#settled;
  }

  /** Never rejects. Tries once; the second call gets the first one's outcome. */
  release(): Promise<ReleaseOutcome> {
    if (!this.#releasing) {
      // First the clock, then the mark: a lease that is over by now was lost, and not merely given back.
      if (this.hold.lease === this) this.hold.expireIfDue(this.clock.now());
      this.#releasing = this.keeper.release(this);
    }
    return this.#releasing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** @internal The same lease for a frame inside of it: to release it is the outer frame's. */
  nested(): Lease {
    const keeper: LeaseKeeper = {
      release: async (inner) => {
        this.#nested.delete(inner);
        return 'released';
      },
      extend: (_inner, ms) => this.keeper.extend(this, ms),
      raise: (_inner, fence) => this.keeper.raise(this, fence),
    };
    const inner = new Lease(this.clock, keeper, this.hold, this.details);
    this.#nested.add(inner);
    return inner;
  }

  /** @internal The client closes and the body has not ended: it is told, and the key is freed. */
  surrender(reason: string): Promise<ReleaseOutcome> {
    this.hold.lose(reason);
    return this.release();
  }

  /** @internal For the hold: the lease is over although nobody released it. */
  markLost(reason: string): void {
    if (this.#releasing) return;
    this.#loss = new LockLostError(reason, { key: this.key, waitedMs: this.waitedMs });
    this.#controller?.abort(this.#loss);
    for (const inner of this.#nested) inner.markLost(reason);
  }

  #over(): boolean {
    return this.#releasing !== undefined || this.loss !== undefined;
  }
}
