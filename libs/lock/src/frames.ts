import { AsyncLocalStorage } from 'node:async_hooks';
import { LockUsageError } from './errors.js';
import type { Lease } from './lease.js';

/** One running `withLock` body. Frames of an async context form a chain, the innermost first. */
class Frame {
  children = 0;
  ended = false;
  #idle?: () => void;

  constructor(
    readonly owner: Frames,
    readonly lease: Lease,
    readonly keys: ReadonlySet<string>,
    readonly parent: Frame | undefined,
  ) {}

  leave(): void {
    this.ended = true;
    if (!this.parent) return;
    this.parent.children -= 1;
    if (this.parent.children === 0) this.parent.#idle?.();
  }

  /** A body may return before a frame it started has ended: the lock is released by the last of them. */
  async whenAlone(): Promise<void> {
    if (this.children > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }
}

/** One for the process, whatever the number of clients: a body under two clients' locks is in one chain. */
const storage = new AsyncLocalStorage<Frame>();

function running(): Frame | undefined {
  let frame = storage.getStore();
  while (frame?.ended) frame = frame.parent;
  return frame;
}

/** The lease of the innermost `withLock` (or decorated method) that the calling code runs in. */
export function currentLease(): Lease | undefined {
  return running()?.lease;
}

/**
 * Which locks of a client the running code is inside of. Only what runs in the innermost frame may take its lock again: a
 * parallel branch of a body would otherwise be let in beside its sibling.
 */
export class Frames {
  async run<R>(lease: Lease, keys: readonly string[], body: () => Promise<R>): Promise<R> {
    const parent = running();
    const frame = new Frame(this, lease, new Set(keys), parent);
    if (parent) parent.children += 1;
    try {
      return await storage.run(frame, body);
    } finally {
      await frame.whenAlone();
      frame.leave();
    }
  }

  /** The lease of this context that already covers the keys. Throws where waiting for them would be waiting for oneself. */
  covering(keys: readonly string[], key: string, reentrant: boolean): Lease | undefined {
    const path: Frame[] = [];
    for (let frame = running(); frame; frame = frame.parent) {
      path.push(frame);
      if (frame.owner !== this) continue;
      const held = frame.keys;
      const shared = keys.filter((wanted) => held.has(wanted));
      if (shared.length === 0) continue;
      if (!reentrant) {
        throw new LockUsageError(
          `"${key}" is already held by this call, which would wait for itself: set reentrant.`,
          key,
        );
      }
      if (shared.length < keys.length) {
        throw new LockUsageError(`Part of "${key}" is already held by this call: take all keys together.`, key);
      }
      if (path.some(({ children }, depth) => children > (depth === 0 ? 0 : 1))) {
        throw new LockUsageError(`"${key}" is in use by a parallel branch of this call: take it outside of both.`, key);
      }
      return frame.lease;
    }
    return undefined;
  }

  /** For work on behalf of many callers: it is inside of nobody's lock. */
  outside<R>(work: () => R): R {
    return storage.exit(work);
  }
}
