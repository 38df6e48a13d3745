import { LockBackendError, LockQueueFullError } from './errors.js';
import { Hold } from './hold.js';
import type { Target } from './key.js';
import type { Parts } from './parts.js';
import type { Timer } from './ports/clock.js';
import type { Watch } from './stores/store.js';
import type { Strategy } from './strategies/strategy.js';
import type { Waiter } from './waiter.js';

/** Those for whom the contest is fought: a line of this process, of one waiter or of five thousand. */
export interface Party {
  readonly target: Target;
  readonly fences: number;
  readonly head: Waiter | undefined;
  /** First of several parties of this process that wait for the same key in the store's line. */
  readonly lookout: boolean;
  /** Gives the hold to the head, which ends the contest. False when nobody is left who could take it. */
  seat(hold: Hold, wokenAt: number | undefined): boolean;
  busy(waiter: Waiter): void;
  refuse(waiter: Waiter, error: Error): void;
  refuseAll(make: (waiter: Waiter) => Error): void;
  /** The store had forgotten this party's entry: probably its neighbours' too. */
  forgotten(): void;
  onLost(hold: Hold): void;
  /** Nobody is left: the next waiter begins a contest of its own. */
  over(): void;
}

const brokenPauseMs = 50;

/**
 * The one contender of a party: looks, sleeps, is woken, looks again, until somebody is seated or nobody is left. A
 * wake-up that comes while a look is under way makes it look once more: the answer may be older than the news.
 */
export class Contest {
  #token: string;
  #wakes = 0;
  #wokenAt?: number;
  #lookAt = 0;
  #holderUntil = Infinity;
  #deafUntil = 0;
  #sleeper?: { resolve(): void; timer: Timer };
  #watch?: Watch;
  #unsure = false;
  #linedUp = false;
  #hold?: Hold;
  #strategy?: Strategy;
  #over = false;

  constructor(
    private readonly parts: Parts,
    private readonly party: Party,
  ) {
    this.#token = parts.random.token();
  }

  /** A release was published, or news may have been missed: look. */
  rouse(): void {
    this.#wakes += 1;
    this.#wokenAt = this.parts.clock.now();
    this.#wakeSleeper();
  }

  /** When it looks next unasked. */
  get lookAt(): number {
    return this.#lookAt;
  }

  /** Who waits has changed: sleep no longer than the new head would, or than whoever looked out for it until now. */
  rearm(planned = Infinity): void {
    const { head } = this.party;
    if (!head) return this.#wakeSleeper();
    const now = this.parts.clock.now();
    // What it last saw of a holder is old news once that time is over: the lock has been handed on since.
    const holderUntil = this.#holderUntil > now ? this.#holderUntil : Infinity;
    const lookAt = Math.min(now + head.options.recheckMs, holderUntil, planned);
    if (lookAt >= this.#lookAt) return;
    this.#lookAt = lookAt;
    this.#wakeSleeper();
  }

  /** yielding: this process has just had its turn, so the first look waits for the news of its release like everybody's. */
  async run(yielding: boolean): Promise<void> {
    this.#strategy = this.party.head?.strategy;
    try {
      if (yielding && this.#strategy) this.#lookAt = this.#yieldUntil(this.#strategy);
      await this.#loop();
    } catch (error) {
      this.party.refuseAll((waiter) => broken(this.party.target, waiter, error));
      this.party.over();
    } finally {
      this.#over = true;
      this.#watch?.close();
      if (!this.#hold && (this.#unsure || this.#linedUp)) this.#leave();
    }
  }

  /** Nothing is awaited between "nobody is left" and telling so. */
  async #loop(): Promise<void> {
    const { clock } = this.parts;
    let seen = this.#wakes;
    let round = 0;
    let brokenSince: number | undefined;
    for (;;) {
      const { head } = this.party;
      if (!head) {
        this.party.over();
        return;
      }
      const sentAt = clock.now();
      if ((this.#wakes === seen || sentAt < this.#deafUntil) && sentAt < this.#lookAt) {
        await this.#sleep(this.#lookAt - sentAt);
        continue;
      }
      seen = this.#wakes;
      const { strategy } = head;
      this.#strategy = strategy;
      const wokenAt = this.#wokenAt;
      let answer;
      try {
        answer = await this.#look(head, strategy);
      } catch (error) {
        this.#unsure = true;
        brokenSince ??= sentAt;
        if (head.once) this.party.refuse(head, broken(this.party.target, head, error));
        else if (clock.now() - brokenSince >= this.parts.backendGraceMs) {
          this.party.refuseAll((waiter) => broken(this.party.target, waiter, error));
        }
        this.#lookAt = clock.now() + brokenPauseMs * (1 + this.parts.random.next());
        continue;
      }
      brokenSince = undefined;
      if (answer.granted) {
        this.#unsure = false;
        this.#linedUp = false;
        if (this.#seat(answer.fence, sentAt, head, wokenAt)) return;
        await this.#giveBack();
        this.#lookAt = 0;
        continue;
      }
      if ('full' in answer) {
        if (head.once) this.party.busy(head);
        else this.party.refuse(head, queueFull(this.party.target, head, answer.place, answer.estimateMs));
        continue;
      }
      if ('spent' in answer && answer.spent) {
        if (answer.spent === 'perhaps given back') this.parts.tidier.release(this.party.target.keys, this.#token);
        this.#renewToken();
      }
      if ('entered' in answer) {
        if (answer.entered && this.#linedUp) this.party.forgotten();
        this.#linedUp = true;
      }
      if (head.once) {
        // Whoever stands behind looks for itself: this look was made without listening.
        this.party.busy(head);
        continue;
      }
      this.#watch?.listen();
      this.#holderUntil = answer.remainingMs < 0 ? Infinity : clock.now() + answer.remainingMs + 1;
      this.#lookAt = clock.now() + this.#pauseMs(strategy, head, round, answer);
      round += 1;
    }
  }

  #look(head: Waiter, strategy: Strategy) {
    const { keys } = this.party.target;
    const token = this.#token;
    if (strategy.listens && !head.once && this.parts.store.wakeups) {
      this.#watch ??= this.parts.store.wakeups.watch(keys, this.#token, () => this.rouse());
    }
    return strategy.look(this.parts.store, {
      keys,
      token,
      options: head.options,
      fences: this.party.fences,
      once: head.once,
      onLateGrant: () => this.#lateGrant(token),
    });
  }

  #seat(fence: number, sentAt: number, head: Waiter, wokenAt: number | undefined): boolean {
    const { clock } = this.parts;
    const hold = new Hold(
      clock,
      this.party.target,
      this.#token,
      head.options,
      fence,
      fence + this.party.fences - 1,
      sentAt,
      (lost) => this.party.onLost(lost),
    );
    // A grant older than its margin is worth nothing: its key may be gone by now.
    if (hold.remainingMs <= 0) return false;
    this.#hold = hold;
    if (this.party.seat(hold, wokenAt)) return true;
    this.#hold = undefined;
    return false;
  }

  /** The lock came for nobody, or too late. Waiters elsewhere hear of the release. */
  async #giveBack(): Promise<void> {
    const { keys } = this.party.target;
    const token = this.#token;
    this.#renewToken();
    await this.parts.store.release(keys, token).catch(() => this.parts.tidier.release(keys, token));
  }

  /** What was given back is never asked for again: a release of it that arrives late would take the new lock away. */
  #renewToken(): void {
    this.#token = this.parts.random.token();
    // Only a line calls its waiters by their tokens.
    if (!this.#watch || !this.#strategy?.linesUp) return;
    const old = this.#watch;
    this.#watch = this.parts.store.wakeups?.watch(this.party.target.keys, this.#token, () => this.rouse());
    old.close();
  }

  #lateGrant(token: string): void {
    if (token !== this.#token) this.parts.tidier.release(this.party.target.keys, token);
    else if (!this.#over) this.rouse();
    else if (!this.#hold || this.#hold.ended) this.#leave();
  }

  #leave(): void {
    const { keys } = this.party.target;
    this.parts.tidier.run(async () => this.#strategy?.leave(this.parts.store, keys, this.#token));
  }

  #pauseMs(
    strategy: Strategy,
    head: Waiter,
    round: number,
    answer: { remainingMs: number; settleMs?: number },
  ): number {
    if (answer.settleMs !== undefined) {
      // The give-backs of all who contend are published, too: to follow that news would be a storm.
      this.#deafUntil = this.parts.clock.now() + answer.settleMs;
      return answer.settleMs;
    }
    return strategy.pauseMs({
      round,
      remainingMs: answer.remainingMs,
      recheckMs: head.options.recheckMs,
      lookout: this.party.lookout,
      backoff: this.parts.backoff,
      random: this.parts.random,
    });
  }

  #yieldUntil(strategy: Strategy): number {
    const { clock, store, backoff, random } = this.parts;
    const { head, target } = this.party;
    if (strategy.listens && store.wakeups && head) {
      this.#watch = store.wakeups.watch(target.keys, this.#token, () => this.rouse());
      this.#watch.listen();
      // Nobody would tell it: after the release that is about to be sent, it looks by itself.
      if (!this.#watch.live) return clock.now() + 1 + 4 * random.next();
    }
    const recheckMs = head?.options.recheckMs ?? 0;
    return clock.now() + strategy.pauseMs({ round: 0, remainingMs: -1, recheckMs, lookout: true, backoff, random });
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#sleeper = { resolve, timer: this.parts.clock.setTimeout(() => this.#wakeSleeper(), Math.ceil(ms)) };
    });
  }

  #wakeSleeper(): void {
    if (!this.#sleeper) return;
    this.parts.clock.clearTimeout(this.#sleeper.timer);
    this.#sleeper.resolve();
    this.#sleeper = undefined;
  }
}

function broken(target: Target, waiter: Waiter, error: unknown): LockBackendError {
  const message = error instanceof Error ? error.message : String(error);
  return new LockBackendError(message, { key: target.key, waitedMs: waiter.waitedMs, cause: error });
}

function queueFull(target: Target, waiter: Waiter, place: number, estimateMs: number): LockQueueFullError {
  return new LockQueueFullError(place, estimateMs, { key: target.key, waitedMs: waiter.waitedMs });
}
