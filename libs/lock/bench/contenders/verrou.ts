import { Verrou } from '@verrou/core';
import { redisStore } from '@verrou/core/drivers/redis';
import { connect, ttlMs, type Open } from './contender.js';

/** `createLock(...).run`, with its own settings: it looks every 250 ms, without a deadline. */
export const verrou: Open = async (port) => {
  const redis = await connect(port);
  const locks = new Verrou({ default: 'redis', stores: { redis: { driver: redisStore({ connection: redis }) } } });
  return {
    withLock: async (key, body) => {
      const [ran] = await locks.createLock(key, ttlMs).run(body);
      if (!ran) throw new Error('run() ended without having run the body');
    },
    close: async () => redis.disconnect(),
  };
};
