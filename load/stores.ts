// The runner's own way into PostgreSQL and Redis, past the system: to look, and to measure what a block cost.
import { Redis } from 'ioredis';
import pg from 'pg';
import type { System } from './system.js';

/** One server, through one client, however many of its databases are used: it counts for all of them. */
export interface RedisServer {
  redis: Redis;
  /** How many of its connections are this runner's. */
  own: number;
}

export interface Stores {
  coupon: pg.Pool;
  order: pg.Pool;
  redis: Redis;
  /** Wherever locks can be: the main Redis, and what `redlock` votes on where the system says which servers that are. */
  lockStores: Redis[];
  redisServers: RedisServer[];
  /** Transactions of this runner itself, so far: its own statements, and the reads that it sends to the apps. */
  own: { coupon: number; order: number };
  close(): Promise<void>;
}

export const applicationName = 'firstcome-load';

export async function openStores(
  system: Pick<System, 'couponDatabaseUrl' | 'orderDatabaseUrl' | 'redisUrl' | 'redlockUrls'>,
): Promise<Stores> {
  const own = { coupon: 0, order: 0 };
  const pool = (app: 'coupon' | 'order', connectionString: string) => {
    const opened = new pg.Pool({
      connectionString,
      // One that stays: PostgreSQL counts by connection, so what this runner did itself can be told to the last statement.
      max: 1,
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: 5000,
      application_name: applicationName,
    });
    opened.on('error', () => {}); // a server that stops is reported by the query that needed it
    opened.on('acquire', () => (own[app] += 1));
    return opened;
  };
  const coupon = pool('coupon', system.couponDatabaseUrl);
  const order = pool('order', system.orderDatabaseUrl);
  const lockStores = [system.redisUrl, ...(system.redlockUrls ?? [])].map((url) => {
    const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1 });
    redis.on('error', () => {});
    return redis;
  });
  await Promise.all(lockStores.map((redis) => redis.connect()));
  return {
    coupon,
    order,
    redis: lockStores[0]!,
    lockStores,
    redisServers: await serversOf(lockStores),
    own,
    close: async () => {
      for (const redis of lockStores) redis.disconnect();
      await Promise.all([coupon.end(), order.end()]);
    },
  };
}

/** Two databases of one server are two places for locks, and one server. */
async function serversOf(clients: readonly Redis[]): Promise<RedisServer[]> {
  const servers = new Map<string, RedisServer>();
  for (const redis of clients) {
    const id = /^run_id:(\w+)/m.exec(await redis.info('server'))?.[1] ?? String(servers.size);
    const known = servers.get(id);
    if (known) known.own += 1;
    else servers.set(id, { redis, own: 1 });
  }
  return [...servers.values()];
}

export async function rowsOf<R>(pool: pg.Pool, text: string, values: unknown[] = []): Promise<R[]> {
  const { rows } = await pool.query(text, values);
  return rows as R[];
}
