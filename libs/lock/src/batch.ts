import { LockAbortedError, LockQueueFullError, LockUsageError, LockWaitTimeoutError } from './errors.js';
import type { RefusalOutcome } from './events.js';
import { Fifo, type FifoNode } from './fifo.js';
import type { Lease } from './lease.js';
import type { LockOptions, ResolvedOptions } from './options.js';
import type { Clock, Timer } from './ports/clock.js';

/** An element that is an Error is that caller's rejection; anything else is its result. */
export type RunBatch<T, R> = (items: T[], lease: Lease) => Promise<readonly (R | Error)[]>;

interface Item<T, R> {
  value: T;
  runBatch: RunBatch<T, R>;
  startedAt: number;
  resolve(result: R): void;
  reject(error: Error): void;
}

export interface BatchTurns {
  clock: Clock;
  /** A turn with the lock: the client's own withLock, under its line, its hand-over and its laws. */
  turn(key: string, body: (lease: Lease) => Promise<void>, options: LockOptions): Promise<void>;
  onBatch(key: string, size: number): void;
  onRefused(key: string, outcome: RefusalOutcome, waitedMs: number): void;
  onEmpty(key: string): void;
}

/**
 * The callers of one key who are waiting to be worked for. While any wait, one turn is in the line for all of them; a
 * turn takes the oldest, up to the batch size, and lines up the next turn before it works, so that the hand-over finds it.
 */
export class Batcher<T, R> {
  readonly #items = new Fifo<Item<T, R>>();
  #abandon?: AbortController;

  constructor(
    private readonly turns: BatchTurns,
    private readonly key: string,
    private readonly size: number,
  ) {}

  get waiting(): number {
    return this.#items.size;
  }

  add(value: T, runBatch: RunBatch<T, R>, options: ResolvedOptions, given: LockOptions): Promise<R> {
    const { clock } = this.turns;
    const { signal } = options;
    const first = this.#items.first;
    if (first && this.#items.size >= options.maxWaiters) {
      this.turns.onRefused(this.key, 'queue_full', 0);
      const estimateMs = clock.now() - first.startedAt;
      return Promise.reject(new LockQueueFullError(this.#items.size + 1, estimateMs, { key: this.key }));
    }
    return new Promise<R>((resolve, reject) => {
      const startedAt = clock.now();
      let timer: Timer | undefined;
      const done = () => {
        if (timer) clock.clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const item: Item<T, R> = {
        value,
        runBatch,
        startedAt,
        resolve: (result) => (done(), resolve(result)),
        reject: (error) => (done(), reject(error)),
      };
      const node = this.#items.push(item);
      const about = () => ({ key: this.key, waitedMs: clock.now() - startedAt });
      const abort = () => this.#giveUp(node, new LockAbortedError('signal', about()));
      timer = clock.setTimeout(() => this.#giveUp(node, new LockWaitTimeoutError(about())), options.waitMs);
      signal?.addEventListener('abort', abort, { once: true });
      if (!this.#abandon) this.#lineUp(given);
    });
  }

  #lineUp(given: LockOptions): void {
    const abandon = new AbortController();
    this.#abandon = abandon;
    // Callers time out one by one, by their own waitMs; the turn stays in the line as long as anybody is left.
    const options = { ...given, waitMs: 86_400_000, signal: abandon.signal };
    let batch: Item<T, R>[] | undefined;
    let results: readonly (R | Error)[] = [];
    const body = async (lease: Lease) => {
      // Run again after a stale fence, it works for the same callers.
      batch ??= this.#take(abandon, given);
      results = await this.#work(batch, lease);
    };
    this.turns
      .turn(this.key, body, options)
      // The lock goes first: what hundreds of callers do with their answers would keep it here, with nobody working under it.
      .then(() => batch?.forEach((item, index) => answer(item, results[index] as R | Error)))
      .catch((error: unknown) => {
        if (batch) for (const item of batch) item.reject(error as Error);
        else if (this.#abandon === abandon) this.#refuseAll(error as Error);
      })
      .finally(() => this.#tellEmpty());
  }

  #take(abandon: AbortController, given: LockOptions): Item<T, R>[] {
    const batch: Item<T, R>[] = [];
    while (batch.length < this.size) {
      const item = this.#items.shift();
      if (!item) break;
      batch.push(item);
    }
    if (this.#abandon === abandon) this.#abandon = undefined;
    if (this.#items.size > 0) this.#lineUp(given);
    return batch;
  }

  async #work(batch: Item<T, R>[], lease: Lease): Promise<readonly (R | Error)[]> {
    const [first] = batch;
    if (!first) return [];
    // Everybody who waited here is served by this turn: the next one is for another process, while this one answers.
    lease.hold.exhaust();
    this.turns.onBatch(this.key, batch.length);
    const results = await first.runBatch(
      batch.map(({ value }) => value),
      lease,
    );
    // A batch whose lease was lost before it said `settled` is unknown: nobody is told that it succeeded.
    if (lease.loss && !lease.isSettled) throw lease.loss;
    if (!Array.isArray(results) || results.length !== batch.length) {
      throw new LockUsageError(`runBatch must return one result for each of its ${batch.length} items.`, this.key);
    }
    return results;
  }

  /** The turn never began. */
  #refuseAll(error: Error): void {
    this.#abandon = undefined;
    for (let item = this.#items.shift(); item; item = this.#items.shift()) item.reject(error);
  }

  #giveUp(node: FifoNode<Item<T, R>>, error: Error): void {
    if (!this.#items.remove(node)) return;
    const outcome = error instanceof LockAbortedError ? 'aborted' : 'timeout';
    this.turns.onRefused(this.key, outcome, this.turns.clock.now() - node.value.startedAt);
    node.value.reject(error);
    if (this.#items.size === 0) {
      this.#abandon?.abort();
      this.#abandon = undefined;
    }
    this.#tellEmpty();
  }

  #tellEmpty(): void {
    if (this.#items.size === 0 && !this.#abandon) this.turns.onEmpty(this.key);
  }
}

function answer<T, R>(item: Item<T, R>, result: R | Error): void {
  if (result instanceof Error) item.reject(result);
  else item.resolve(result);
}
