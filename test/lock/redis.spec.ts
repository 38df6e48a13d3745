import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { redisStore } from '@firstcome/lock';
import { lockContract } from '@firstcome/lock/testing';
import { testRedisUrl } from '../support/servers.js';

let redis: Redis;

beforeAll(() => {
  redis = new Redis(testRedisUrl());
});

afterAll(() => {
  redis.disconnect();
});

lockContract({ describe, it }, 'redis', {
  store: () => redisStore(redis),
  strategies: ['pubsub', 'spin', 'adaptive', 'queue'],
});
