import { once } from 'node:events';
import {
  Global,
  Inject,
  Logger,
  Module,
  type DynamicModule,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { createRedis, type RedisOptions } from './create-redis.js';
import { checkEvictionPolicy, EvictionPolicyError } from './eviction-policy.js';
import { RateLimiter } from './rate-limiter.js';
import { RedisReadiness } from './redis-readiness.js';
import { REDIS } from './tokens.js';

export { REDIS };

const READY_DEADLINE_MS = 3_000;

@Global()
@Module({})
export class RedisModule implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Redis');

  constructor(@Inject(REDIS) private readonly redis: Redis | Cluster) {}

  static forRoot(options: RedisOptions): DynamicModule {
    return {
      module: RedisModule,
      providers: [{ provide: REDIS, useFactory: () => createRedis(options) }, RateLimiter, RedisReadiness],
      exports: [REDIS, RateLimiter, RedisReadiness],
    };
  }

  /** A wrong eviction policy stops the start. A Redis that is away does not: it is looked at when it comes. */
  async onModuleInit(): Promise<void> {
    try {
      await untilReady(this.redis);
      await checkEvictionPolicy(this.redis);
    } catch (error) {
      if (error instanceof EvictionPolicyError) throw error;
      this.logger.warn({ err: error }, 'Redis does not answer yet.');
    }
    this.redis.on('ready', () => {
      checkEvictionPolicy(this.redis).catch((error: Error) => {
        if (error instanceof EvictionPolicyError) this.logger.error(error.message);
      });
    });
  }

  /** After the last request was answered. */
  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}

/** A Cluster knows its nodes only then; before, there would be none to look at. */
async function untilReady(redis: Redis | Cluster): Promise<void> {
  if (redis.status !== 'ready') await once(redis, 'ready', { signal: AbortSignal.timeout(READY_DEADLINE_MS) });
}
