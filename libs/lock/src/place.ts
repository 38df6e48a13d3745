import { LockQueueFullError } from './errors.js';
import type { Target } from './key.js';
import type { Lease } from './lease.js';
import { Line, type Neighbours } from './line.js';
import type { Parts } from './parts.js';
import type { Waiter } from './waiter.js';

/** All there is of one key in this process: the shared line, and the lines of those who contend by themselves. */
export class Place implements Neighbours {
  readonly line: Line;
  readonly #solo = new Set<Line>();
  #soloWaiters = 0;
  #lookout?: Line;

  constructor(
    private readonly parts: Parts,
    readonly target: Target,
    private readonly onIdle: () => void,
  ) {
    this.line = new Line(parts, target, this, parts.handOver.count);
  }

  get inUse(): boolean {
    return this.line.inUse || this.#solo.size > 0;
  }

  get waiters(): number {
    return this.line.waiters + this.#soloWaiters;
  }

  *lines(): Iterable<Line> {
    yield this.line;
    yield* this.#solo;
  }

  join(waiter: Waiter): Promise<Lease | null> {
    const { strategy, options } = waiter;
    // A hold is handed on under the token it has: an owner's is nobody else's.
    const joins = options.localLine && options.owner === undefined;
    if (joins && !strategy.linesUp && this.parts.store.excludes) return this.line.join(waiter);
    if (this.#soloWaiters >= options.maxWaiters) {
      const { key } = this.target;
      const estimateMs = this.#first()?.head?.waitedMs ?? 0;
      this.parts.observe?.({ type: 'refused', key, strategy: strategy.name, outcome: 'queue_full', waitedMs: 0 });
      return Promise.reject(new LockQueueFullError(this.#soloWaiters + 1, estimateMs, { key }));
    }
    const line = new Line(this.parts, this.target, this, 1);
    this.#solo.add(line);
    this.#soloWaiters += 1;
    return line.join(waiter);
  }

  isFirst(line: Line): boolean {
    this.#lookout ??= this.#first();
    return this.#lookout === line;
  }

  forgotten(): void {
    for (const line of this.#solo) line.rouse();
  }

  departed(line: Line): void {
    if (line !== this.line) this.#soloWaiters -= 1;
    if (this.#lookout !== line) return;
    // The next in the process takes over looking out for all, when the last one would have looked.
    this.#lookout = this.#first();
    this.#lookout?.rearm(line.lookAt);
  }

  idle(line: Line): void {
    this.#solo.delete(line);
    if (!this.inUse) this.onIdle();
  }

  #first(): Line | undefined {
    for (const line of this.#solo) if (line.waiters > 0) return line;
    return undefined;
  }
}
