import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { redisStore } from '@firstcome/lock';
import { lockContract } from '@firstcome/lock/testing';
import { startRedisServer, type RedisServer } from './support/redis-server.js';

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedisServer();
  redis = new Redis(server.port);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

lockContract({ describe, it }, 'redis', { store: () => redisStore(redis), strategies: ['pubsub'] });
