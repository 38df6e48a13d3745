import { createLocks, redisStore, type LockOptions } from '../../src/index.js';
import { connect, patienceMs, ttlMs, type Open } from './contender.js';

/** This library. `handOver` is the most leases under one grant; the library's own bound where it is not given. */
export const firstcome =
  (options: LockOptions, handOver?: number): Open =>
  async (port) => {
    const redis = await connect(port);
    const locks = createLocks({
      store: redisStore(redis),
      defaults: { ...options, ttlMs, waitMs: patienceMs },
      ...(handOver === undefined ? {} : { handOver: { count: handOver, ms: 60_000 } }),
    });
    return {
      withLock: (key, body) => locks.withLock(key, body),
      close: async () => {
        await locks.close();
        redis.disconnect();
      },
    };
  };
