import type { Clock } from '../ports/clock.js';
import type { Random } from '../ports/random.js';

/** What the client hands to its store: one place to inject time and chance. */
export interface StorePorts {
  clock: Clock;
  random: Random;
  /** Names this client in a waiting line and in the messages of its hand-overs. */
  processId: string;
}

export type StoreFactory = (ports: StorePorts) => LockStore;

export interface AcquireRequest {
  keys: readonly string[];
  token: string;
  ttlMs: number;
  /** How many fences to draw: the first belongs to this grant, the rest to its local hand-overs, in order. */
  fences: number;
  /** Called when a request that was already given up turns out to have been granted. */
  onLateGrant: () => void;
}

export type AcquireAnswer =
  | { granted: true; fence: number }
  /** remainingMs: until the present holder's time runs out; negative when the store cannot tell. */
  | {
      granted: false;
      remainingMs: number;
      settleMs?: number;
      /** The attempt took something and gave it back, so far as is known: the token must not be used again. */
      spent?: 'given back' | 'perhaps given back';
    };

/** At least ttlMs are left from now on: a renewal never takes time off, so that one that comes late can do no harm. */
export interface RenewRequest {
  keys: readonly string[];
  token: string;
  ttlMs: number;
}

/** An Error is an unknown outcome, not a loss. */
export type RenewAnswer = 'renewed' | 'lost' | Error;

export interface StoredLock {
  held: boolean;
  token?: string;
  remainingMs: number;
  /** The highest fence drawn so far, 0 when none was. */
  fence: number;
  /** Entries in the store's waiting line (strategy `queue`). */
  queued: number;
  /** The store's own clock in milliseconds. */
  storeTimeMs: number;
}

/**
 * Where the lock lives. A store knows nothing of waiting: it says yes, no, or throws an error that means "nobody knows".
 * Every verb is idempotent by token and ends by a deadline of its own.
 */
export interface LockStore {
  readonly name: string;
  /** False only for the negative control, which grants everything. */
  readonly excludes: boolean;
  /** Where longer leases would not be safe. */
  readonly maxTtlMs?: number;
  acquire(request: AcquireRequest): Promise<AcquireAnswer>;
  /** However many leases: one round trip per node. Never rejects. */
  renew(requests: readonly RenewRequest[], timeoutMs: number): Promise<RenewAnswer[]>;
  /**
   * Sets the time left of one lease to less. Whoever asks has stopped to believe in more before: a request like this may be
   * done late, or twice.
   */
  shorten(request: RenewRequest): Promise<RenewAnswer>;
  /** True when the token still held every key. Wakes the waiters of what it freed. */
  release(keys: readonly string[], token: string): Promise<boolean>;
  /** Raises the fence counters to at least `fence`, if the token still holds the keys. */
  raise(keys: readonly string[], token: string, fence: number): Promise<boolean>;
  inspect(key: string): Promise<StoredLock>;
  /** For operators: takes the key away from whoever is seen to hold it. True when that one did until then. */
  forceRelease(key: string): Promise<boolean>;
  /** Absent where the store cannot tell anybody of a release: waiters then look again by themselves. */
  readonly wakeups?: Wakeups;
  /** Absent where the store keeps no line: strategy `queue` is then refused. */
  readonly line?: WaitingLine;
  /** Closes what the store opened; clients that the user made stay open. */
  close(): Promise<void>;
}

/** Tells the waiters of this process of releases. Listeners do not grow with waiters: one registration per contender. */
export interface Wakeups {
  /** Opens the subscription, where one serves all keys. Cheap to repeat. */
  start(): void;
  /**
   * Registers at once and in memory; `wake` is called at every release, at every grant that names the token, and each time
   * the subscription has come alive again, because whatever was published meanwhile is gone.
   */
  watch(keys: readonly string[], token: string, wake: () => void): Watch;
}

export interface Watch {
  /** Makes sure the keys are subscribed to. `wake` follows the acknowledgement, unless they already were. */
  listen(): void;
  /** Every key's subscription is acknowledged and its connection is up. */
  readonly live: boolean;
  close(): void;
}

export interface JoinRequest extends Omit<AcquireRequest, 'fences' | 'keys'> {
  key: string;
  priority: number;
  /** 0: take the lock if nobody holds it or waits for it, but do not line up. */
  maxWaiters: number;
}

export type JoinAnswer =
  | { granted: true; fence: number }
  /** entered: this look has put the entry in the line (again). */
  | { granted: false; remainingMs: number; place: number; entered: boolean }
  | { granted: false; full: true; place: number; estimateMs: number };

/** A line in the store itself: first come, first served across processes, handed over by the release. */
export interface WaitingLine {
  /** Lines up, or looks again: takes the lock when it was handed to the token or when the token's entry is first. */
  join(request: JoinRequest): Promise<JoinAnswer>;
  /** Takes the entry out, and passes the lock on if it was handed over meanwhile. */
  leave(key: string, token: string): Promise<void>;
}
