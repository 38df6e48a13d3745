/** An event to come. A class and not closures: there are hundreds in every schedule. */
class Pending {
  constructor(
    private readonly onCancel: { cancelled: number },
    readonly at: number,
    readonly order: number,
    public run: (() => void) | undefined,
  ) {}

  cancel(): void {
    if (this.run) this.onCancel.cancelled += 1;
    this.run = undefined;
  }
}

export type Scheduled = Pick<Pending, 'cancel'>;

/** The one scheduler of a simulated world: milliseconds that pass only when everybody waits. */
export class VirtualTime {
  now = 0;
  #order = 0;
  readonly #count = { cancelled: 0 };
  readonly #heap: Pending[] = [];

  /** How many events are still to come. */
  get size(): number {
    return this.#heap.length - this.#count.cancelled;
  }

  /** Two events of one moment happen in the order in which they were asked for. */
  at(at: number, run: () => void): Scheduled {
    this.#order += 1;
    const pending = new Pending(this.#count, Math.max(at, this.now), this.#order, run);
    this.#push(pending);
    return pending;
  }

  in(ms: number, run: () => void): Scheduled {
    return this.at(this.now + ms, run);
  }

  /** Runs the next event. False when there is none. */
  step(): boolean {
    for (let next = this.#pop(); next; next = this.#pop()) {
      if (!next.run) {
        this.#count.cancelled -= 1;
        continue;
      }
      const { run } = next;
      next.run = undefined;
      this.now = next.at;
      run();
      return true;
    }
    return false;
  }

  #push(pending: Pending): void {
    const heap = this.#heap;
    let at = heap.push(pending) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(pending, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = pending;
  }

  #pop(): Pending | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1;
      if (!before(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function before(a: Pending, b: Pending): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
