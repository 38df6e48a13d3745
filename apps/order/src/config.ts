import {
  commonFields,
  lockDefaults,
  oneOf,
  oneWayToRedis,
  oneWayToTrust,
  readEnvironment,
  redisFields,
  redisTarget,
  ticketOptions,
  url,
  whole,
} from '@firstcome/environment';
import { z } from 'zod';
import { coordinationNames } from './coordination/strategy.js';
import { labStrategyNames, stockStrategyNames } from './stock/strategy.js';

const schema = z.object({
  ...commonFields(3002),
  ...redisFields,
  ORDER_DATABASE_URL: url(
    'set it to the order database, postgres://user:password@host:5432/order',
    'postgres',
    'postgresql',
  ),
  STOCK_STRATEGY: oneOf(...stockStrategyNames, ...labStrategyNames),
  COORDINATION: oneOf(...coordinationNames),
  COUPON_URL: url('', 'http', 'https').default('http://127.0.0.1:3001'),
  ORDER_TTL_MS: whole(600_000, 1, 86_400_000),
});

export type Config = ReturnType<typeof loadConfig>;
export const CONFIG = Symbol('order config');

/** Throws a ConfigError that lists every mistake at once. */
export function loadConfig(environment: Record<string, string | undefined> = process.env) {
  const env = readEnvironment(environment, {
    app: 'order',
    schema,
    secrets: ['ORDER_DATABASE_URL', 'REDIS_URL', 'JWT_SECRET', 'SERVICE_TOKEN'],
    together: (given) => [...oneWayToRedis(given), ...oneWayToTrust(given), ...onlyInTheLab(given)],
  });
  return {
    host: env.HOST,
    port: env.PORT,
    database: { url: env.ORDER_DATABASE_URL, poolSize: env.DATABASE_POOL_SIZE },
    redis: redisTarget(env),
    lock: lockDefaults(env),
    tickets: ticketOptions(env),
    idempotencyTtlMs: env.IDEMPOTENCY_TTL_MS,
    auth: {
      secret: env.JWT_SECRET,
      jwksUrl: env.JWT_JWKS_URL,
      issuer: env.JWT_ISSUER,
      audience: env.JWT_AUDIENCE,
      serviceToken: env.SERVICE_TOKEN,
    },
    coupon: { url: env.COUPON_URL, serviceToken: env.SERVICE_TOKEN },
    stockStrategy: env.STOCK_STRATEGY,
    coordination: env.COORDINATION,
    orderTtlMs: env.ORDER_TTL_MS,
    lab: env.LAB === '1',
    trustProxy: env.TRUST_PROXY?.join(',') ?? false,
    corsOrigins: env.CORS_ORIGINS ?? [],
    logLevel: env.LOG_LEVEL,
    docs: env.NODE_ENV !== 'production',
  };
}

function onlyInTheLab({ STOCK_STRATEGY: strategy, LAB: lab }: Record<string, string>): string[] {
  if (lab === '1' || !labStrategyNames.some((name) => name === strategy)) return [];
  return [`STOCK_STRATEGY ${strategy} is for the lab: choose one of ${stockStrategyNames.join(', ')}, or set LAB=1`];
}
