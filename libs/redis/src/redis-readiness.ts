import { Inject, Injectable } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { REDIS } from './tokens.js';

/** For the readiness of the app: does Redis answer? */
@Injectable()
export class RedisReadiness {
  readonly name = 'redis';

  constructor(@Inject(REDIS) private readonly redis: Redis | Cluster) {}

  async check(): Promise<void> {
    await this.redis.ping();
  }
}
