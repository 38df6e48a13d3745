import type { Cluster, Redis } from 'ioredis';
import type { StoreFactory } from '../store.js';
import { IoredisPort } from './ioredis-port.js';
import { redisPortStore, type RedisStoreOptions } from './redis-store.js';

/** Locks in Redis, over a client that the caller made and keeps: a single node, Sentinel or Cluster. */
export function redisStore(redis: Redis | Cluster, options?: RedisStoreOptions): StoreFactory {
  return redisPortStore(new IoredisPort(redis), options);
}
