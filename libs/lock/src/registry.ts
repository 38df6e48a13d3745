export interface Kept {
  readonly inUse: boolean;
}

/** Per-key state of this process: least recently used goes first, what is in use never goes. */
export class Registry<T extends Kept> {
  readonly #entries = new Map<string, T>();

  constructor(private readonly limit: number) {}

  get size(): number {
    return this.#entries.size;
  }

  /** Read only: does not count as use. */
  peek(id: string): T | undefined {
    return this.#entries.get(id);
  }

  get(id: string, make: () => T): T {
    let entry = this.#entries.get(id);
    if (entry) this.#entries.delete(id);
    else {
      entry = make();
      this.#evict();
    }
    this.#entries.set(id, entry);
    return entry;
  }

  values(): Iterable<T> {
    return this.#entries.values();
  }

  /** Looks at a few of the oldest only: with everything in use the registry grows rather than searching for ever. */
  #evict(): void {
    let looked = 0;
    for (const [id, entry] of this.#entries) {
      if (this.#entries.size < this.limit || looked >= 16) return;
      looked += 1;
      this.#entries.delete(id);
      // In use: to the young end, so that the next search does not meet it first again.
      if (entry.inUse) this.#entries.set(id, entry);
    }
  }
}
