import { LockUsageError } from './errors.js';
import type { LockObserver } from './events.js';
import { checkNumber, type LockOptions } from './options.js';
import type { HandOverBounds } from './parts.js';
import type { Clock } from './ports/clock.js';
import type { Random } from './ports/random.js';
import type { StoreFactory } from './stores/store.js';

/** Of a client; those of a wait and a lease are LockOptions. */
export interface LocksOptions {
  store: StoreFactory;
  /** Defaults of every call of this client. */
  defaults?: Omit<LockOptions, 'signal'>;
  /** Bounds of the hand-over inside the process: throughput against fairness to other processes. 64 leases, 250 ms. */
  handOver?: Partial<HandOverBounds>;
  /** Most items one `batch` works on. 200. */
  batchSize?: number;
  /** How many idle keys keep their state in this process. 10000. */
  registrySize?: number;
  /** A wait rides out a broken store for this long before it fails with LockBackendError. 1000. */
  backendGraceMs?: number;
  /**
   * `spin` and `adaptive` sleep so many times as long between looks: below 1 costs commands, above it time. 0.01 to 100, 1.
   */
  backoff?: number;
  /** `close` lets holders finish for this long. 5000. */
  closeGraceMs?: number;
  /**
   * Whether the caller is inside a database transaction. A lock taken there is refused: it would be released before the
   * commit, or be waited for with a connection in hand.
   */
  inTransaction?: () => boolean;
  onEvent?: LockObserver;
  clock?: Clock;
  random?: Random;
}

export function factor(name: string, value: number): number {
  if (value >= 0.01 && value <= 100) return value;
  throw new LockUsageError(`${name} must be a number from 0.01 to 100, not ${String(value)}.`);
}

export function bounded(name: string, value: number, max: number): number {
  checkNumber(name, value, 1, max);
  return value;
}
