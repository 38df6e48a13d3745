export { currentLease } from '../frames.js';
export { lockMetrics } from '../metrics.js';
export { DistributedLock, type DistributedLockOptions } from './distributed-lock.js';
export { LockExceptionFilter } from './lock.filter.js';
export { LockHealthIndicator, type LockHealth } from './lock.health.js';
export { LockModule, type LockModuleAsyncOptions, type LockModuleOptions } from './lock.module.js';
export { LockService } from './lock.service.js';
export { lockProblem, lockProblems, type LockProblem } from './problem.js';
export { healthToken, InjectLocks, locksToken } from './tokens.js';
