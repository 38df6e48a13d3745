import type { LockObserver } from './events.js';
import type { Clock } from './ports/clock.js';
import type { Random } from './ports/random.js';
import type { LockStore } from './stores/store.js';
import type { Tidier } from './tidier.js';
import type { Watchdog } from './watchdog.js';

export interface HandOverBounds {
  /** At most this many leases of this process under one grant. */
  count: number;
  /** None is handed on when the grant is older than this: other processes wait. */
  ms: number;
}

/** What the parts of one client share. */
export interface Parts {
  clock: Clock;
  random: Random;
  store: LockStore;
  watchdog: Watchdog;
  tidier: Tidier;
  observe?: LockObserver;
  handOver: HandOverBounds;
  /** A wait rides out a broken store for this long before it fails as broken. */
  backendGraceMs: number;
  backoff: number;
}
