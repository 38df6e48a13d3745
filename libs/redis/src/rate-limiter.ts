import { readFileSync } from 'node:fs';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { REDIS } from './tokens.js';

export interface RateLimit {
  allowed: boolean;
  /** 0 when allowed. */
  retryAfterMs: number;
}

const PERIOD_US = 60_000_000;
const DEADLINE_MS = 250;
const ALLOWED: RateLimit = { allowed: true, retryAfterMs: 0 };
const script = readFileSync(new URL('./rate-limit.lua', import.meta.url), 'utf8');

type WithScript = { rateLimit(key: string, limit: number, periodUs: number): Promise<number> };

/** Limits per minute, shared by all instances. Without Redis nothing is limited: a limit guards capacity, not truth. */
@Injectable()
export class RateLimiter {
  private readonly logger = new Logger('RateLimiter');
  private readonly client: WithScript;
  private failing = false;

  constructor(@Inject(REDIS) redis: Redis | Cluster) {
    redis.defineCommand('rateLimit', { numberOfKeys: 1, lua: script });
    this.client = redis as unknown as WithScript;
  }

  /** Takes one request from the limit of a subject, such as `user:alice`. A limit of 0 is off: not even a command. */
  async take(subject: string, limitPerMinute: number): Promise<RateLimit> {
    if (limitPerMinute === 0) return ALLOWED;
    try {
      const key = `rate:${subject}`;
      const retryAfterMs = await withDeadline(this.client.rateLimit(key, limitPerMinute, PERIOD_US));
      this.failing = false;
      return retryAfterMs === 0 ? ALLOWED : { allowed: false, retryAfterMs };
    } catch (error) {
      // Once per outage, not once per request.
      if (!this.failing) this.logger.warn({ err: error }, 'Rate limits are off: Redis does not answer.');
      this.failing = true;
      return ALLOWED;
    }
  }
}

async function withDeadline<R>(reply: Promise<R>): Promise<R> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, DEADLINE_MS, new Error(`No reply within ${DEADLINE_MS} ms.`));
  });
  // The loser of the race may still fail later.
  reply.catch(() => undefined);
  try {
    return await Promise.race([reply, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
