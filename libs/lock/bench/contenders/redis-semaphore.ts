import { Mutex } from 'redis-semaphore';
import { connect, patienceMs, ttlMs, type Open } from './contender.js';

/** `Mutex`, one for each call as its documents show; it looks every 10 ms, its default. */
export const redisSemaphore: Open = async (port) => {
  const redis = await connect(port);
  return {
    withLock: async (key, body) => {
      const mutex = new Mutex(redis, key, { lockTimeout: ttlMs, acquireTimeout: patienceMs });
      await mutex.acquire();
      try {
        await body();
      } finally {
        await mutex.release();
      }
    },
    close: async () => redis.disconnect(),
  };
};
