import { guarded, type LockObserver } from './events.js';
import { storeSaidLost, type Hold } from './hold.js';
import type { Clock, Timer } from './ports/clock.js';
import type { LockStore } from './stores/store.js';

/**
 * One timer for all holds of a client. A tick ends what is over by the clock, warns of fixed leases that run out, and renews
 * in one call whatever would be late at the next tick: 1000 leases cost one round trip per TTL/3.
 */
export class Watchdog {
  readonly #holds = new Set<Hold>();
  #timer?: Timer;
  #timerAt = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly store: Pick<LockStore, 'renew'>,
    private readonly observe: LockObserver | undefined,
    private readonly onLongHold: (hold: Hold) => void,
  ) {
    this.observe = guarded(observe);
  }

  get size(): number {
    return this.#holds.size;
  }

  get holds(): Iterable<Hold> {
    return this.#holds;
  }

  watch(hold: Hold): void {
    this.#holds.add(hold);
    this.#wakeBy(hold.dueAt(this.clock.now()));
  }

  forget(hold: Hold): void {
    this.#holds.delete(hold);
    if (this.#holds.size === 0) this.#disarm();
  }

  #tick(): void {
    this.#disarm();
    const now = this.clock.now();
    let due = false;
    let periodMs = Infinity;
    for (const hold of this.#holds) {
      if (hold.expireIfDue(now)) {
        this.#holds.delete(hold);
        continue;
      }
      if (hold.warnIfDue(now)) this.onLongHold(hold);
      due ||= hold.wantsRenewal(now);
      periodMs = Math.min(periodMs, hold.options.ttlMs / 3);
    }
    // Nothing in here may reject into the timer: renew() does not, and its failures are answers.
    if (due)
      void this.#renew(
        [...this.#holds].filter((hold) => hold.wantsRenewal(now, periodMs)),
        now,
        periodMs,
      );
    this.#rearm();
  }

  async #renew(holds: Hold[], sentAt: number, timeoutMs: number): Promise<void> {
    for (const hold of holds) hold.renewing = true;
    const requests = holds.map((hold) => ({ keys: hold.target.keys, token: hold.token, ttlMs: hold.options.ttlMs }));
    const answers = await this.store
      .renew(requests, timeoutMs)
      .catch((error: unknown) => holds.map(() => (error instanceof Error ? error : new Error(String(error)))));
    const counts = { ok: 0, lost: 0, failed: 0 };
    for (const [index, hold] of holds.entries()) {
      const answer = answers[index];
      hold.renewing = false;
      if (hold.ended) continue; // released meanwhile: whatever was answered no longer matters
      if (answer === 'renewed') {
        counts.ok += 1;
        hold.renewed(sentAt, hold.options.ttlMs);
      } else if (answer === 'lost') {
        counts.lost += 1;
        this.#holds.delete(hold);
        hold.lose(storeSaidLost);
      } else {
        counts.failed += 1;
        hold.renewalFailed(this.clock.now());
      }
    }
    for (const result of ['ok', 'lost', 'failed'] as const) {
      if (counts[result] > 0) this.observe?.({ type: 'renewed', result, count: counts[result] });
    }
    this.#rearm();
  }

  #rearm(): void {
    const now = this.clock.now();
    let at = Infinity;
    for (const hold of this.#holds) at = Math.min(at, hold.dueAt(now));
    if (at !== this.#timerAt) this.#disarm();
    if (at < Infinity) this.#wakeBy(at);
  }

  #wakeBy(at: number): void {
    if (at >= this.#timerAt) return;
    this.#disarm();
    this.#timerAt = at;
    this.#timer = this.clock.setTimeout(() => this.#tick(), Math.max(0, Math.ceil(at - this.clock.now())));
    // A held lease does not keep the process alive; its socket does, while there is one.
    this.#timer.unref?.();
  }

  #disarm(): void {
    if (this.#timer) this.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAt = Infinity;
  }
}
