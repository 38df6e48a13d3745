import type { Hold } from '../../hold.js';
import type { Lease } from '../../lease.js';

interface Entry {
  seatedAt: number;
  sentAt: number;
  lowest: number;
  highest: number;
}

/** Times are computed back from what a lease has left. */
const roundingMs = 1e-6;

/** All fences of every key: none falls, none repeats, and a block is used in order. */
export class FenceBook {
  readonly #seen = new Map<string, Set<number>>();
  readonly #holds = new Map<string, Map<Hold, Entry>>();

  constructor(private readonly violation: (law: string) => void) {}

  enter(lease: Lease, now: number, sentAt: number): void {
    for (const key of lease.keys) {
      const seen = this.#of(this.#seen, key, () => new Set<number>());
      if (seen.has(lease.fence)) this.violation(`fence ${lease.fence} of "${key}" was given twice (law 2)`);
      seen.add(lease.fence);
      this.#enterHold(key, lease, now, sentAt);
    }
  }

  #enterHold(key: string, { hold, fence }: Lease, now: number, sentAt: number): void {
    const holds = this.#of(this.#holds, key, () => new Map<Hold, Entry>());
    let entry = holds.get(hold);
    if (!entry) holds.set(hold, (entry = { seatedAt: now, sentAt, lowest: fence, highest: fence }));
    else if (fence <= entry.highest) this.violation(`fence ${fence} of "${key}" follows ${entry.highest} (law 2)`);
    entry.highest = Math.max(entry.highest, fence);
    for (const [other, { seatedAt, sentAt: asked, lowest, highest }] of holds) {
      if (other === hold) continue;
      const [mine, before] = [entry.sentAt - roundingMs, entry.seatedAt + roundingMs];
      if (seatedAt < mine && fence <= highest)
        this.violation(`fence ${fence} of "${key}" is not above ${highest} (law 2)`);
      if (before < asked && fence >= lowest)
        this.violation(`fence ${fence} of "${key}" is not below ${lowest} (law 2)`);
    }
  }

  #of<T>(map: Map<string, T>, key: string, make: () => T): T {
    let value = map.get(key);
    if (value === undefined) map.set(key, (value = make()));
    return value;
  }
}
