import { z } from 'zod';
import { hostsAndPorts, url, whole } from './fields.js';

/** Where Redis is, and how an app waits for and holds its locks there. */
export const redisFields = {
  REDIS_URL: url('', 'redis', 'rediss').optional(),
  REDIS_CLUSTER_NODES: hostsAndPorts().optional(),
  REDIS_SENTINELS: hostsAndPorts().optional(),
  REDIS_SENTINEL_NAME: z.string().optional(),
  LOCK_TTL_MS: whole(5000, 100, 86_400_000),
  LOCK_WAIT_MS: whole(10_000, 1, 86_400_000),
  LOCK_RECHECK_MS: whole(1000, 1, 86_400_000),
  LOCK_MAX_WAITERS: whole(10_000, 1, 1_000_000),
  LOCK_BACKEND_DOWN: z
    .enum(['fail', 'defer'], {
      error: 'must be fail or defer (fallback is not built yet; with defer, requests are accepted while Redis is away)',
    })
    .default('fail'),
  TICKETS_MAX_WAITING: whole(10_000, 1, 1_000_000),
};

type RedisEnvironment = z.infer<z.ZodObject<typeof redisFields>>;

/** The mistakes that only several of them together can make. */
export function oneWayToRedis(given: Record<string, string>): string[] {
  const mistakes: string[] = [];
  const ways = ['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'].filter(
    (name) => given[name] ?? given[`${name}_FILE`],
  );
  if (ways.length !== 1) {
    const found = ways.length === 0 ? 'none is set' : `${ways.join(' and ')} are set`;
    mistakes.push(`REDIS_URL, REDIS_CLUSTER_NODES or REDIS_SENTINELS: set exactly one (${found})`);
  }
  if (given['REDIS_SENTINELS'] && !given['REDIS_SENTINEL_NAME']) {
    mistakes.push('REDIS_SENTINEL_NAME is missing: set it to the name of the primary that the sentinels watch');
  }
  return mistakes;
}

export function redisTarget(env: RedisEnvironment) {
  if (env.REDIS_CLUSTER_NODES) return { cluster: env.REDIS_CLUSTER_NODES };
  if (env.REDIS_SENTINELS) return { sentinels: env.REDIS_SENTINELS, name: env.REDIS_SENTINEL_NAME ?? '' };
  return { url: env.REDIS_URL ?? '' };
}

export function lockDefaults(env: RedisEnvironment) {
  return {
    ttlMs: env.LOCK_TTL_MS,
    waitMs: env.LOCK_WAIT_MS,
    recheckMs: env.LOCK_RECHECK_MS,
    maxWaiters: env.LOCK_MAX_WAITERS,
  };
}

/** What becomes of a request whose lock cannot be asked for: refused, or taken in and done later. */
export function ticketOptions(env: RedisEnvironment) {
  return { defer: env.LOCK_BACKEND_DOWN === 'defer', maxWaiting: env.TICKETS_MAX_WAITING };
}
