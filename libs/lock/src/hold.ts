import type { Target } from './key.js';
import type { Lease } from './lease.js';
import type { Clock } from './ports/clock.js';

export interface HoldOptions {
  ttlMs: number;
  autoRenew: boolean;
  maxHoldMs: number;
}

/** The reason of a loss that the store told; the others are the local clock's and the client's own. */
export const storeSaidLost = 'the store no longer has it';

/** Taken off every local deadline: the two clocks may run 1 % apart, and a timer is a few milliseconds late. */
export function marginMs(ttlMs: number): number {
  return ttlMs * 0.01 + 2;
}

/**
 * What this process has at the store: a token, a time, a block of fences. It outlives a lease when it is handed from one
 * local waiter to the next. Whether it is still ours is decided here, by the local clock alone.
 */
export class Hold {
  readonly grantedAt: number;
  /** When the last of the requests was sent that the store answered with: it is yours. */
  confirmedAt: number;
  /** The lease that has the hold now. */
  lease?: Lease;
  /** How many leases have had it. */
  served = 0;
  renewing = false;
  /** How often time was taken off it. */
  shortenings = 0;
  lostReason?: string;
  #ended = false;
  #deadline: number;
  #renewAt: number;
  #warnAt: number;

  constructor(
    private readonly clock: Clock,
    readonly target: Target,
    readonly token: string,
    readonly options: HoldOptions,
    /** The next fence to give away, and the last of the block. */
    private nextFence: number,
    private lastFence: number,
    /** Before the request went out: whatever the answer took has been taken off the lease. */
    sentAt: number,
    private readonly onLost: (hold: Hold) => void,
  ) {
    this.grantedAt = clock.now();
    this.confirmedAt = sentAt;
    this.#deadline = sentAt + options.ttlMs - marginMs(options.ttlMs);
    this.#renewAt = sentAt + options.ttlMs / 3;
    this.#warnAt = Infinity;
  }

  get remainingMs(): number {
    return this.#ended ? 0 : Math.max(0, this.#deadline - this.clock.now());
  }

  get ended(): boolean {
    return this.#ended;
  }

  get fencesLeft(): number {
    return this.lastFence - this.nextFence + 1;
  }

  /** Gives the hold to a lease, under the next fence of the block. */
  serve(make: (fence: number) => Lease): Lease {
    this.lease = make(this.nextFence);
    this.nextFence += 1;
    this.served += 1;
    this.#warnFrom(this.clock.now());
    return this.lease;
  }

  /** No fence of the block is given away any more. */
  exhaust(): void {
    this.lastFence = this.nextFence - 1;
  }

  /** When the watchdog has to look at this hold next. */
  dueAt(now: number): number {
    return Math.min(this.#deadline, this.#warnAt, this.mayRenew(now) && !this.renewing ? this.#renewAt : Infinity);
  }

  /** Whether it would be late by the time of the next round, so that it goes with this one. */
  wantsRenewal(now: number, withinMs = 0): boolean {
    return this.mayRenew(now) && !this.renewing && this.#renewAt <= now + withinMs;
  }

  /**
   * Before the store is asked: whatever becomes of the request, nobody believes in more from now on. And nobody gets this hold
   * after the present lease, or a copy of the request that comes late would take off the time of a neighbour.
   */
  shorten(sentAt: number, ms: number): void {
    this.#deadline = Math.min(this.#deadline, sentAt + ms - marginMs(ms));
    this.shortenings += 1;
    this.exhaust();
    this.#warnFrom(this.clock.now());
  }

  get prolongable(): boolean {
    return this.shortenings < Infinity;
  }

  /** Nobody knows whether it was shortened, or will be: what the store says of its time is not believed any more. */
  neverProlong(): void {
    this.shortenings = Infinity;
  }

  /**
   * A renewal never takes time off, so the latest of all that was confirmed stands, in whatever order the answers come; but
   * what was asked for before it was shortened is over. `shortenings` is their number when the request was sent.
   */
  renewed(sentAt: number, ttlMs: number, shortenings = 0): void {
    const deadline = sentAt + ttlMs - marginMs(ttlMs);
    this.confirmedAt = Math.max(this.confirmedAt, sentAt);
    if (this.#ended || deadline <= this.#deadline || shortenings < this.shortenings) return;
    this.#deadline = deadline;
    // Extended beyond the TTL, it is left alone until what remains is what a renewal would find.
    this.#renewAt = sentAt + Math.max(ttlMs / 3, ttlMs - (this.options.ttlMs * 2) / 3);
    this.#warnFrom(this.clock.now());
  }

  /** Sooner than after a success: three more tries fit before the lease is over. */
  renewalFailed(now: number): void {
    this.#renewAt = now + this.options.ttlMs / 9;
  }

  /** The clock has the last word: it is right where no timer could run and where no answer came. */
  expireIfDue(now: number): boolean {
    if (!this.#ended && now >= this.#deadline) this.lose('its time ran out');
    return this.#ended;
  }

  warnIfDue(now: number): boolean {
    if (now < this.#warnAt) return false;
    this.#warnAt = Infinity;
    return true;
  }

  lose(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.lostReason = reason;
    this.lease?.markLost(reason);
    this.onLost(this);
  }

  end(): void {
    this.#ended = true;
  }

  private mayRenew(now: number): boolean {
    return this.options.autoRenew && this.lease !== undefined && now - this.lease.startedAt < this.options.maxHoldMs;
  }

  #warnFrom(now: number): void {
    if (!this.options.autoRenew) this.#warnAt = now + (this.#deadline - now) * 0.8;
  }
}
