import { DatabaseUnavailableError } from './errors.js';

interface Waiter {
  since: number;
  enter: () => void;
  refuse: (error: Error) => void;
}

export interface TurnstileLimits {
  /** So long may nobody at all get through before those who waited all that time are refused. */
  stallMs: number;
  /** So long may anybody wait, however quickly the others get through. */
  waitMs: number;
}

const SWEEP_MS = 50;

/**
 * Who may use a connection: as many at once as the pool has, first come, first served. The pool's own queue knows one
 * deadline only, and so refuses a burst that it would have served in time. Here a queue that moves may be waited in for
 * longer, and one that stands still is left within a second.
 */
export class Turnstile {
  private readonly waiters = new Set<Waiter>();
  private movedAt = 0;
  private sweeper: NodeJS.Timeout | undefined;

  constructor(
    private free: number,
    private readonly limits: TurnstileLimits,
  ) {}

  get waiting(): number {
    return this.waiters.size;
  }

  /** Whether somebody got through lately. */
  get moving(): boolean {
    return performance.now() - this.movedAt < this.limits.stallMs;
  }

  async enter(): Promise<void> {
    if (this.free > 0) {
      this.free -= 1;
      return;
    }
    this.sweeper ??= setInterval(() => this.sweep(), SWEEP_MS);
    await new Promise<void>((enter, refuse) => this.waiters.add({ since: performance.now(), enter, refuse }));
  }

  /** Gives the place to whoever waits longest. */
  leave(): void {
    this.movedAt = performance.now();
    const next = this.waiters.values().next();
    if (next.done) this.free += 1;
    else this.take(next.value).enter();
  }

  /** The server cannot be reached: waiting would only delay the same answer. */
  refuseAll(cause: unknown): void {
    for (const waiter of this.waiters) this.take(waiter).refuse(new DatabaseUnavailableError({ cause }));
  }

  private sweep(): void {
    const now = performance.now();
    const { stallMs, waitMs } = this.limits;
    for (const waiter of this.waiters) {
      const stalled = now - Math.max(waiter.since, this.movedAt) >= stallMs;
      if (!stalled && now - waiter.since < waitMs) return;
      const cause = new Error(stalled ? `No connection came free for ${stallMs} ms.` : `Waited for ${waitMs} ms.`);
      this.take(waiter).refuse(new DatabaseUnavailableError({ cause }));
    }
  }

  private take(waiter: Waiter): Waiter {
    this.waiters.delete(waiter);
    if (this.waiters.size === 0) {
      clearInterval(this.sweeper);
      this.sweeper = undefined;
    }
    return waiter;
  }
}
