import { sleep, type Clock } from './ports/clock.js';
import type { LockStore } from './stores/store.js';

const tries = 3;
const pauseMs = 250;

/**
 * Takes away what a call of unknown outcome may have left behind, by compare-and-delete. In the background and a few times
 * only: where even this fails, the TTL ends the key.
 */
export class Tidier {
  readonly #running = new Set<Promise<void>>();

  constructor(
    private readonly clock: Clock,
    private readonly store: Pick<LockStore, 'release'>,
  ) {}

  get size(): number {
    return this.#running.size;
  }

  release(keys: readonly string[], token: string): void {
    this.run(() => this.store.release(keys, token));
  }

  run(work: () => Promise<unknown>): void {
    const running = this.#try(work).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #try(work: () => Promise<unknown>): Promise<void> {
    for (let left = tries; left > 0; left -= 1) {
      try {
        await work();
        return;
      } catch {
        // Unknown again. The next try, or the TTL, will settle it.
        if (left > 1) await sleep(this.clock, pauseMs);
      }
    }
  }
}
