import type { ResolvedOptions, StrategyName } from '../options.js';
import type { Random } from '../ports/random.js';
import type { AcquireAnswer, JoinAnswer, LockStore } from '../stores/store.js';

export interface Look {
  keys: readonly string[];
  token: string;
  options: ResolvedOptions;
  fences: number;
  /** One attempt: do not line up. */
  once: boolean;
  onLateGrant: () => void;
}

export interface Pause {
  /** How many looks have been refused before this one. */
  round: number;
  remainingMs: number;
  recheckMs: number;
  /** First of this process's contenders for the key: where many wait, only this one looks again unasked. */
  lookout: boolean;
  /** Of the client: what polls sleeps so many times as long as its strategy says. */
  backoff: number;
  random: Random;
}

/** How a waiter waits. It holds nothing and remembers nothing: one object serves all waiters. */
export interface Strategy {
  readonly name: StrategyName;
  /** Told of releases; otherwise it finds out by looking. */
  readonly listens: boolean;
  /** Lines up in the store, so there is no line in the process. */
  readonly linesUp: boolean;
  look(store: LockStore, look: Look): Promise<AcquireAnswer | JoinAnswer>;
  /** How long to sleep after a refusal when nobody calls. */
  pauseMs(pause: Pause): number;
  /** Leaves nothing of an abandoned wait in the store: no entry, and no grant that nobody heard of. */
  leave(store: LockStore, keys: readonly string[], token: string): Promise<void>;
}

/** What all strategies without a line of their own do: ask for the lock. */
export function attempt(store: LockStore, { keys, token, options, fences, onLateGrant }: Look): Promise<AcquireAnswer> {
  return store.acquire({ keys, token, ttlMs: options.ttlMs, fences, onLateGrant });
}

export async function undo(store: LockStore, keys: readonly string[], token: string): Promise<void> {
  await store.release(keys, token);
}
