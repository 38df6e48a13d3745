import Redlock from 'redlock';
import { connect, patienceMs, ttlMs, type Open } from './contender.js';

/** `using`, on one server. Its count of retries (10) is its deadline, and is raised; its delays are kept where none are given. */
export const redlock =
  (delays: { retryDelay?: number; retryJitter?: number } = {}): Open =>
  async (port) => {
    const redis = await connect(port);
    const lock = new Redlock([redis]);
    const retryCount = Math.ceil(patienceMs / (delays.retryDelay ?? 200));
    return {
      withLock: (key, body) => lock.using([key], ttlMs, { ...delays, retryCount }, body),
      close: async () => redis.disconnect(),
    };
  };
