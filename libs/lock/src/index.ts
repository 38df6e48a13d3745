export * from './errors.js';
export type { LockEvent, LockObserver, RefusalOutcome, ReleaseOutcome } from './events.js';
export {
  fenceColumn,
  fenceTable,
  type Fenced,
  type GuardExecutor,
  type PostgresGuard,
} from './guard/postgres-guard.js';
export { currentLease } from './frames.js';
export { templateOf } from './key.js';
export { Lease } from './lease.js';
export { Lock } from './lock.js';
export { createLocks, Locks, type InspectedLock, type LocksStats } from './locks.js';
export type { LocksOptions } from './locks-options.js';
export type { RunBatch } from './batch.js';
export type { LockOptions, StrategyName } from './options.js';
export type { Clock, Timer } from './ports/clock.js';
export type { Random } from './ports/random.js';
export { lockMetrics, type LockMetricsOptions } from './metrics.js';
export { memoryStore } from './stores/memory.js';
export { noneStore } from './stores/none.js';
export { redisStore } from './stores/redis/index.js';
export { keyOfLockName } from './stores/redis/names.js';
export { redlockStore } from './stores/redlock/index.js';
export type { RedlockOptions } from './stores/redlock/redlock-store.js';
export type { RedisStoreOptions } from './stores/redis/redis-store.js';
export type * from './stores/store.js';
