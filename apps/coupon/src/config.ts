import {
  commonFields,
  listOf,
  lockDefaults,
  oneOf,
  oneWayToRedis,
  readEnvironment,
  redisFields,
  redisTarget,
  times,
  url,
  whole,
} from '@firstcome/environment';
import { z } from 'zod';
import { issueStrategyNames } from './issuance/strategy.js';

const schema = z.object({
  ...commonFields(3001),
  ...redisFields,
  COUPON_DATABASE_URL: url(
    'set it to the coupon database, postgres://user:password@host:5432/coupon',
    'postgres',
    'postgresql',
  ),
  REDLOCK_URLS: listOf(isRedisUrl, 'must be redis://…,redis://…,redis://…, one for each independent server').optional(),
  ISSUE_STRATEGY: oneOf(...issueStrategyNames),
  LAB_BACKOFF: times(0.01, 100),
  RATE_LIMIT_USER: whole(60, 0, 1_000_000_000),
  RATE_LIMIT_ADDRESS: whole(600, 0, 1_000_000_000),
  RATE_LIMIT_COUPON: whole(0, 0, 1_000_000_000),
});

export type Config = ReturnType<typeof loadConfig>;
export const CONFIG = Symbol('coupon config');

/** Throws a ConfigError that lists every mistake at once. */
export function loadConfig(environment: Record<string, string | undefined> = process.env) {
  const env = readEnvironment(environment, {
    app: 'coupon',
    schema,
    secrets: ['COUPON_DATABASE_URL', 'REDIS_URL', 'REDLOCK_URLS', 'JWT_SECRET', 'SERVICE_TOKEN'],
    together: (given) => [...oneWayToRedis(given), ...whatStrategiesNeed(given)],
  });
  return {
    host: env.HOST,
    port: env.PORT,
    database: { url: env.COUPON_DATABASE_URL, poolSize: env.DATABASE_POOL_SIZE },
    redis: redisTarget(env),
    redlockUrls: env.REDLOCK_URLS,
    auth: {
      secret: env.JWT_SECRET,
      issuer: env.JWT_ISSUER,
      audience: env.JWT_AUDIENCE,
      serviceToken: env.SERVICE_TOKEN,
    },
    issueStrategy: env.ISSUE_STRATEGY,
    lock: lockDefaults(env),
    lab: env.LAB === '1',
    backoff: env.LAB_BACKOFF,
    rateLimits: { user: env.RATE_LIMIT_USER, address: env.RATE_LIMIT_ADDRESS, coupon: env.RATE_LIMIT_COUPON },
    trustProxy: env.TRUST_PROXY?.join(',') ?? false,
    corsOrigins: env.CORS_ORIGINS ?? [],
    logLevel: env.LOG_LEVEL,
    docs: env.NODE_ENV !== 'production',
  };
}

function whatStrategiesNeed(given: Record<string, string>): string[] {
  const mistakes: string[] = [];
  const servers = given['REDLOCK_URLS']?.split(',').filter((part) => part.trim() !== '');
  if (servers && servers.length % 2 === 0) {
    mistakes.push('REDLOCK_URLS must name an odd number of servers: an even one survives no more failures');
  }
  if (given['ISSUE_STRATEGY'] === 'redlock' && !servers) {
    mistakes.push('REDLOCK_URLS is missing: ISSUE_STRATEGY=redlock needs three or five independent Redis servers');
  }
  if (given['ISSUE_STRATEGY'] === 'none' && given['LAB'] !== '1') {
    mistakes.push('ISSUE_STRATEGY=none oversells, to show it: it is for the lab only (LAB=1)');
  }
  if (given['LAB_BACKOFF'] && given['LAB'] !== '1') {
    mistakes.push('LAB_BACKOFF is for the lab, where it shows what back-off costs: remove it, or set LAB=1');
  }
  return mistakes;
}

function isRedisUrl(text: string): boolean {
  return URL.canParse(text) && ['redis:', 'rediss:'].includes(new URL(text).protocol);
}
