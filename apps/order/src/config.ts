import { commonFields, oneOf, readEnvironment, url, whole } from '@firstcome/environment';
import { z } from 'zod';
import { stockStrategyNames } from './stock/strategy.js';

const schema = z.object({
  ...commonFields(3002),
  ORDER_DATABASE_URL: url(
    'set it to the order database, postgres://user:password@host:5432/order',
    'postgres',
    'postgresql',
  ),
  STOCK_STRATEGY: oneOf(...stockStrategyNames),
  ORDER_TTL_MS: whole(600_000, 1, 86_400_000),
});

export type Config = ReturnType<typeof loadConfig>;
export const CONFIG = Symbol('order config');

/** Throws a ConfigError that lists every mistake at once. */
export function loadConfig(environment: Record<string, string | undefined> = process.env) {
  const env = readEnvironment(environment, {
    app: 'order',
    schema,
    secrets: ['ORDER_DATABASE_URL', 'JWT_SECRET', 'SERVICE_TOKEN'],
  });
  return {
    host: env.HOST,
    port: env.PORT,
    database: { url: env.ORDER_DATABASE_URL, poolSize: env.DATABASE_POOL_SIZE },
    auth: {
      secret: env.JWT_SECRET,
      issuer: env.JWT_ISSUER,
      audience: env.JWT_AUDIENCE,
      serviceToken: env.SERVICE_TOKEN,
    },
    stockStrategy: env.STOCK_STRATEGY,
    orderTtlMs: env.ORDER_TTL_MS,
    lab: env.LAB === '1',
    trustProxy: env.TRUST_PROXY?.join(',') ?? false,
    corsOrigins: env.CORS_ORIGINS ?? [],
    logLevel: env.LOG_LEVEL,
    docs: env.NODE_ENV !== 'production',
  };
}
