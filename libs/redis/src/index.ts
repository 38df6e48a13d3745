export { createRedis, type RedisOptions, type RedisTarget } from './create-redis.js';
export { RateLimiter, type RateLimit } from './rate-limiter.js';
export { REDIS, RedisModule } from './redis.module.js';
export { scanKeys } from './scan-keys.js';
export { RedisReadiness } from './redis-readiness.js';
