import { StaleFenceError } from '../../errors.js';
import { createLocks } from '../../locks.js';
import type { StrategyName } from '../../options.js';
import { memoryStore } from '../../stores/memory.js';
import { redisPortStore } from '../../stores/redis/redis-store.js';
import { redlockOf } from '../../stores/redlock/redlock-store.js';
import { strategies } from '../../strategies/index.js';

/** What is simulated: the library itself, or a copy of it with a mistake planted. */
export interface Library {
  createLocks: typeof createLocks;
  redisPortStore: typeof redisPortStore;
  memoryStore: typeof memoryStore;
  redlockOf: typeof redlockOf;
  StaleFenceError: typeof StaleFenceError;
  strategies: StrategyName[];
}

export const library: Library = {
  createLocks,
  redisPortStore,
  memoryStore,
  redlockOf,
  StaleFenceError,
  strategies: Object.keys(strategies) as StrategyName[],
};
