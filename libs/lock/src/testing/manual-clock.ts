import type { Clock, Timer } from '../ports/clock.js';

interface Pending extends Timer {
  at: number;
  callback: () => void;
}

/** Time that passes when the test says so: no sleeps, and no test that a slow machine can fail. */
export class ManualClock implements Clock {
  readonly #pending = new Set<Pending>();
  #now = 1000;

  /** Timers that have been set and neither fired nor cleared. */
  get timers(): number {
    return this.#pending.size;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, ms: number): Timer {
    const timer: Pending = { at: this.#now + Math.max(0, ms), callback };
    this.#pending.add(timer);
    return timer;
  }

  clearTimeout(timer: Timer): void {
    this.#pending.delete(timer as Pending);
  }

  /** Lets time pass, firing what is due in order, with everything that follows from it. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const next = [...this.#pending].toSorted((a, b) => a.at - b.at)[0];
      if (!next || next.at > end) break;
      this.#pending.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settle();
    }
    this.#now = end;
    await settle();
  }

  /** Time passes and nothing runs: a blocked event loop, a stopped process. */
  jump(ms: number): void {
    this.#now += ms;
  }
}

/** Until everything that was waiting for nothing but its turn has run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
}
