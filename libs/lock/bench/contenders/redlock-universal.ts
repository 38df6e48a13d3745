import { createLock, IoredisAdapter } from 'redlock-universal';
import { connect, patienceMs, ttlMs, type Open } from './contender.js';

/** Its default. */
const retryDelay = 100;

/** `createLock(...).using`, one lock object a key; its number of attempts (3) is its deadline, and is raised. */
export const redlockUniversal: Open = async (port) => {
  const redis = await connect(port);
  const adapter = new IoredisAdapter(redis);
  const make = (key: string) =>
    createLock({ adapter, key, ttl: ttlMs, retryDelay, retryAttempts: Math.ceil(patienceMs / retryDelay) });
  const locks = new Map<string, ReturnType<typeof make>>();
  return {
    withLock: (key, body) => {
      const lock = locks.get(key) ?? make(key);
      locks.set(key, lock);
      return lock.using(body);
    },
    close: async () => redis.disconnect(),
  };
};
