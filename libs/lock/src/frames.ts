import { AsyncLocalStorage } from 'node:async_hooks';
import { LockUsageError } from './errors.js';
import type { Lease } from './lease.js';

/** One running `withLock` body. Frames of an async context form a chain, the innermost first. */
class Frame {
  children = 0;
  ended = false;
  #idle?: () => void;

  constructor(
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

/**
 * Which locks the running code is inside of. Only what runs in the innermost frame may take its lock again: a parallel
 * branch of a body would otherwise be let in beside its sibling.
 */
export class Frames {
  readonly #storage = new AsyncLocalStorage<Frame>();

  async run<R>(lease: Lease, keys: readonly string[], body: () => Promise<R>): Promise<R> {
    const parent = this.#running();
    const frame = new Frame(lease, new Set(keys), parent);
    if (parent) parent.children += 1;
    try {
      return await this.#storage.run(frame, body);
    } finally {
      await frame.whenAlone();
      frame.leave();
    }
  }

  /** The lease of this context that already covers the keys. Throws where waiting for them would be waiting for oneself. */
  covering(keys: readonly string[], key: string, reentrant: boolean): Lease | undefined {
    const path: Frame[] = [];
    for (let frame = this.#running(); frame; frame = frame.parent) {
      path.push(frame);
      const held = frame.keys;
      const shared = keys.filter((wanted) => held.has(wanted));
      if (shared.length === 0) continue;
      if (!reentrant) {
        throw new LockUsageError(
          `"${key}" is already held by this call: it would wait for itself. Set reentrant: true.`,
          key,
        );
      }
      if (shared.length < keys.length) {
        throw new LockUsageError(`Part of "${key}" is already held by this call: take all keys together.`, key);
      }
      if (path.some(({ children }, depth) => children > (depth === 0 ? 0 : 1))) {
        throw new LockUsageError(
          `"${key}" is in use by a parallel branch of this call: take its lock outside of both.`,
          key,
        );
      }
      return frame.lease;
    }
    return undefined;
  }

  /** For work on behalf of many callers: it is inside of nobody's lock. */
  outside<R>(work: () => R): R {
    return this.#storage.exit(work);
  }

  #running(): Frame | undefined {
    let frame = this.#storage.getStore();
    while (frame?.ended) frame = frame.parent;
    return frame;
  }
}
