import { Contest, type Party } from './contest.js';
import { LockAbortedError, LockBackendError, LockQueueFullError, LockWaitTimeoutError } from './errors.js';
import type { RefusalOutcome, ReleaseOutcome } from './events.js';
import { Fifo } from './fifo.js';
import { storeSaidLost, type Hold } from './hold.js';
import type { Target } from './key.js';
import { Lease, type LeaseKeeper } from './lease.js';
import { checkNumber } from './options.js';
import type { Parts } from './parts.js';
import type { Timer } from './ports/clock.js';
import type { Waiter } from './waiter.js';

/** What a line needs to know of the other lines of its key (strategy `queue` has one line per waiter). */
export interface Neighbours {
  isFirst(line: Line): boolean;
  forgotten(): void;
  /** A waiter of the line waits no longer. */
  departed(line: Line): void;
  /** The line has neither waiters nor a hold. */
  idle(line: Line): void;
}

/**
 * The waiters of one key in this process, in order of arrival. One contest at a time talks to the store for all of them,
 * and a release goes to the next of them without a command, within the bounds of the hand-over.
 */
export class Line implements Party, LeaseKeeper {
  readonly #waiting = new Fifo<Waiter>();
  #contest?: Contest;
  #hold?: Hold;
  #lookAt = Infinity;
  /** Settled when the last contest has given back what came too late. */
  contestOver: Promise<void> = Promise.resolve();
  #alarm?: { at: number; timer: Timer };

  constructor(
    private readonly parts: Parts,
    readonly target: Target,
    private readonly neighbours: Neighbours,
    /** 1 where nothing is handed on: the line of a waiter who contends by itself. */
    readonly fences: number,
  ) {}

  get head(): Waiter | undefined {
    return this.#waiting.first;
  }

  get waiters(): number {
    return this.#waiting.size;
  }

  get inUse(): boolean {
    return this.#waiting.size > 0 || this.#hold !== undefined || this.#contest !== undefined;
  }

  get lookout(): boolean {
    return this.neighbours.isFirst(this);
  }

  join(waiter: Waiter): Promise<Lease | null> {
    const { signal, strategy, maxWaiters } = waiter.options;
    if (waiter.once && (this.#hold || this.#waiting.size > 0)) {
      // Held or waited for in this process: the store would only say the same.
      this.#report(waiter, 'busy');
      waiter.resolve(null);
      return waiter.lease;
    }
    if (this.#waiting.size >= maxWaiters) {
      this.#report(waiter, 'queue_full');
      const details = { key: this.target.key, waitedMs: 0 };
      // Whoever joins now waits about as long as the first has waited already.
      waiter.reject(new LockQueueFullError(this.#waiting.size + 1, this.head?.waitedMs ?? 0, details));
      return waiter.lease;
    }
    waiter.node = this.#waiting.push(waiter);
    this.parts.observe?.({ type: 'waiting', key: this.target.key, strategy, change: 1 });
    if (signal) waiter.onAbort(() => this.refuse(waiter, new LockAbortedError('signal', this.#about(waiter))));
    this.#alarmBy(waiter.deadline);
    if (!this.#hold && !this.#contest) this.#contend(false);
    // A contest that everybody has left is still under way: it looks once more, for this one.
    else if (waiter.once) this.#contest?.rouse();
    return waiter.lease;
  }

  async release(lease: Lease): Promise<ReleaseOutcome> {
    const hold = lease.hold;
    const { key, keys } = this.target;
    const { strategy } = lease;
    if (hold.lostReason !== undefined) {
      // The line has moved on. What may be left of the lease at the store goes all the same.
      await this.parts.store.release(keys, hold.token).catch(() => this.parts.tidier.release(keys, hold.token));
      this.parts.observe?.({ type: 'released', key, strategy, outcome: 'lost', heldMs: lease.heldMs });
      return 'lost';
    }
    const next = this.head;
    if (next && this.#mayHandOver(hold, next)) {
      this.parts.observe?.({ type: 'released', key, strategy, outcome: 'released', heldMs: lease.heldMs });
      this.#serve(hold, next, true, this.parts.clock.now());
      return 'released';
    }
    hold.end();
    this.parts.watchdog.forget(hold);
    this.#hold = undefined;
    const { heldMs } = lease;
    // The bound is reached: this process goes to the end, and its next contender waits for the news like all others. It
    // listens before the release is sent, or it would miss the very news it waits for.
    if (this.#waiting.size > 0) this.#contend(true);
    const releasing = this.parts.store.release(keys, hold.token);
    let outcome: ReleaseOutcome;
    try {
      outcome = (await releasing) ? 'released' : 'lost';
    } catch {
      this.parts.tidier.release(keys, hold.token);
      outcome = 'unknown';
    }
    // Nothing was published: whoever waits for the news of this release would wait in vain.
    if (outcome !== 'released') this.#contest?.rouse();
    if (outcome === 'lost') {
      this.parts.observe?.({ type: 'lost', key, strategy, reason: 'found by the release', heldMs });
    }
    this.parts.observe?.({ type: 'released', key, strategy, outcome, heldMs });
    this.#tellIdle();
    return outcome;
  }

  async extend(lease: Lease, ms: number): Promise<void> {
    const { clock, store } = this.parts;
    const { hold } = lease;
    checkNumber('extend', ms, 10, 86_400_000, this.target.key);
    const sentAt = clock.now();
    const request = { keys: this.target.keys, token: hold.token, ttlMs: ms };
    // The watchdog would give it back to a lease that is renewed; a fixed one gets exactly what is asked for.
    const shorter = !hold.options.autoRenew && ms < hold.remainingMs;
    if (!shorter && !hold.prolongable) {
      throw new LockBackendError('its time was set to less, and whether that was done is unknown: it ends by then', {
        key: this.target.key,
      });
    }
    if (shorter) {
      hold.shorten(sentAt, ms);
      this.parts.watchdog.watch(hold);
    }
    const { shortenings } = hold;
    const [answer] = shorter ? [await store.shorten(request)] : await store.renew([request], lease.remainingMs);
    if (answer === 'renewed') {
      hold.renewed(sentAt, ms, shortenings);
      this.parts.watchdog.watch(hold);
    } else if (answer === 'lost') {
      hold.lose(storeSaidLost);
    } else {
      if (shorter) hold.neverProlong();
      throw new LockBackendError(`extending failed: ${String(answer)}`, { key: this.target.key, cause: answer });
    }
    lease.assertHeld();
  }

  /** After a stale fence: later grants start above what the guard has seen, and nothing of this block is used any more. */
  async raise(lease: Lease, fence: number): Promise<boolean> {
    lease.hold.exhaust();
    return this.parts.store.raise(this.target.keys, lease.token, fence);
  }

  seat(hold: Hold, wokenAt: number | undefined): boolean {
    const next = this.head;
    if (!next || !fits(hold, next)) return false;
    this.#lookAt = this.lookAt;
    this.#contest = undefined;
    this.#hold = hold;
    this.#serve(hold, next, false, wokenAt);
    this.parts.watchdog.watch(hold);
    return true;
  }

  busy(waiter: Waiter): void {
    if (!this.#remove(waiter)) return;
    this.#report(waiter, 'busy');
    waiter.resolve(null);
  }

  refuse(waiter: Waiter, error: Error): void {
    if (!this.#remove(waiter)) return;
    this.#report(waiter, outcomeOf(error));
    waiter.reject(error);
    this.#contest?.rearm();
    this.#tellIdle();
  }

  refuseAll(make: (waiter: Waiter) => Error): void {
    for (const waiter of this.#waiting) this.refuse(waiter, make(waiter));
  }

  forgotten(): void {
    this.neighbours.forgotten();
  }

  onLost(hold: Hold): void {
    const { lease } = hold;
    if (lease) {
      const { key } = this.target;
      const reason = hold.lostReason ?? '';
      this.parts.observe?.({ type: 'lost', key, strategy: lease.strategy, reason, heldMs: lease.heldMs });
    }
    this.parts.watchdog.forget(hold);
    if (this.#hold !== hold) return;
    this.#hold = undefined;
    if (this.#waiting.size > 0) this.#contend(false);
    else this.#tellIdle();
  }

  over(): void {
    this.#contest = undefined;
    this.#tellIdle();
  }

  /** Look now: the store has forgotten a neighbour's entry. */
  rouse(): void {
    this.#contest?.rouse();
  }

  /** When it would look next unasked; it may be granted by now. */
  get lookAt(): number {
    return this.#contest?.lookAt ?? this.#lookAt;
  }

  rearm(planned: number): void {
    this.#contest?.rearm(planned);
  }

  #contend(yielding: boolean): void {
    this.#contest = new Contest(this.parts, this);
    this.contestOver = this.#contest.run(yielding);
  }

  #serve(hold: Hold, waiter: Waiter, handedOver: boolean, since: number | undefined): void {
    this.#remove(waiter);
    const { clock, store, observe } = this.parts;
    const { waitedMs } = waiter;
    const { strategy } = waiter.options;
    const lease = hold.serve((fence) => new Lease(clock, this, hold, { fence, waitedMs, store: store.name, strategy }));
    const handoffMs = since === undefined ? undefined : clock.now() - since;
    observe?.({ type: 'acquired', key: this.target.key, strategy, waitedMs, handedOver, handoffMs });
    waiter.resolve(lease);
  }

  #mayHandOver(hold: Hold, next: Waiter): boolean {
    const { clock, handOver } = this.parts;
    return (
      this.#hold === hold &&
      fits(hold, next) &&
      hold.fencesLeft > 0 &&
      hold.served < handOver.count &&
      clock.now() - hold.grantedAt < handOver.ms &&
      // What is left must be worth having: a fixed lease shrinks, and renewals may be failing.
      hold.remainingMs >= hold.options.ttlMs / 2
    );
  }

  #remove(waiter: Waiter): boolean {
    if (!waiter.node || !this.#waiting.remove(waiter.node)) return false;
    this.parts.observe?.({ type: 'waiting', key: this.target.key, strategy: waiter.options.strategy, change: -1 });
    if (this.#waiting.size === 0) this.#disarm();
    this.neighbours.departed(this);
    return true;
  }

  /** One timer for all waiters, at the earliest deadline there was; it looks through the line when it goes off. */
  #alarmBy(at: number): void {
    if (at === Infinity || (this.#alarm && this.#alarm.at <= at)) return;
    this.#disarm();
    const delayMs = Math.max(1, Math.ceil(at - this.parts.clock.now()));
    this.#alarm = { at, timer: this.parts.clock.setTimeout(() => this.#ring(), delayMs) };
  }

  #ring(): void {
    this.#alarm = undefined;
    const now = this.parts.clock.now();
    let next = Infinity;
    for (const waiter of this.#waiting) {
      if (waiter.deadline <= now) this.refuse(waiter, new LockWaitTimeoutError(this.#about(waiter)));
      else next = Math.min(next, waiter.deadline);
    }
    this.#alarmBy(next);
  }

  #disarm(): void {
    if (this.#alarm) this.parts.clock.clearTimeout(this.#alarm.timer);
    this.#alarm = undefined;
  }

  #tellIdle(): void {
    if (!this.inUse) this.neighbours.idle(this);
  }

  #about(waiter: Waiter): { key: string; waitedMs: number } {
    return { key: this.target.key, waitedMs: waiter.waitedMs };
  }

  #report(waiter: Waiter, outcome: RefusalOutcome): void {
    const { strategy } = waiter.options;
    this.parts.observe?.({ type: 'refused', key: this.target.key, strategy, outcome, waitedMs: waiter.waitedMs });
  }
}

/** A hold is handed on only to a waiter who would have asked for the same. */
function fits(hold: Hold, waiter: Waiter): boolean {
  return hold.options.ttlMs === waiter.options.ttlMs && hold.options.autoRenew === waiter.options.autoRenew;
}

function outcomeOf(error: Error): RefusalOutcome {
  if (error instanceof LockAbortedError) return 'aborted';
  if (error instanceof LockBackendError) return 'backend_down';
  return error instanceof LockQueueFullError ? 'queue_full' : 'timeout';
}
