import type { Clock, Timer } from '../../ports/clock.js';
import type { Chance } from './chance.js';
import type { Scheduled, VirtualTime } from './virtual-time.js';

class SimulatedTimer implements Timer {
  current?: Scheduled;

  constructor(readonly callback: () => void) {}

  unref(): void {}
}

/**
 * A process of the simulated world: a monotonic clock that runs a little fast or slow, timers that are a little late, and a
 * life that can be stopped (SIGSTOP, or an event loop that is blocked) and ended (SIGKILL).
 */
export class SimulatedProcess {
  readonly clock: Clock;
  dead = false;
  /** When a stop ends; in the past when it runs. */
  stoppedUntil = 0;
  /** How long it has been stopped altogether. */
  stoppedMs = 0;
  readonly #timers = new Set<SimulatedTimer>();

  constructor(
    readonly name: string,
    private readonly time: VirtualTime,
    readonly chance: Chance,
    /** How much faster its clock runs than the world: 1.003. */
    private readonly rate: number,
  ) {
    const offset = chance.real(1, 1e6);
    this.clock = {
      now: () => offset + this.time.now * this.rate,
      setTimeout: (callback, ms) => this.#setTimeout(callback, ms),
      clearTimeout: (timer) => {
        if (this.#timers.delete(timer as SimulatedTimer)) (timer as SimulatedTimer).current?.cancel();
      },
    };
  }

  get stopped(): boolean {
    return this.stoppedUntil > this.time.now;
  }

  /** Timers that are set. */
  get timers(): number {
    return this.#timers.size;
  }

  /** What happens in the process: not while it is stopped, and never once it is dead. */
  deliver(at: number, run: () => void): Scheduled {
    return this.time.at(at, () => {
      if (this.dead) return;
      if (this.stopped) this.deliver(this.stoppedUntil, run);
      else run();
    });
  }

  stop(ms: number): void {
    const until = this.time.now + ms;
    // A short stop inside a longer one adds nothing, and takes nothing off.
    this.stoppedMs += Math.max(0, until - Math.max(this.stoppedUntil, this.time.now));
    this.stoppedUntil = Math.max(this.stoppedUntil, until);
  }

  kill(): void {
    this.dead = true;
    for (const timer of this.#timers) this.clock.clearTimeout(timer);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.later(ms, resolve));
  }

  /** A timer of the application's own: not one that the library could leak. */
  later(ms: number, run: () => void): void {
    this.deliver(this.time.now + ms / this.rate, run);
  }

  #setTimeout(callback: () => void, ms: number): Timer {
    // As Node does it: whole milliseconds, at least one; up to one early against the fine clock, and a little late.
    const delay = Math.max(1, Math.trunc(ms)) + this.chance.real(-0.9, 1.5);
    const timer = new SimulatedTimer(callback);
    this.#timers.add(timer);
    timer.current = this.time.at(this.time.now + delay / this.rate, () => this.#fire(timer));
    return timer;
  }

  #fire(timer: SimulatedTimer): void {
    if (this.dead) return;
    // Stays cancellable: a timer that another one clears on waking never goes off.
    if (this.stopped) timer.current = this.time.at(this.stoppedUntil, () => this.#fire(timer));
    else if (this.#timers.delete(timer)) timer.callback();
  }
}
