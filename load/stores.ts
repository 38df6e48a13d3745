// The runner's own way into PostgreSQL and Redis, past the system: to look, and to measure what a block cost.
import { Redis } from 'ioredis';
import pg from 'pg';
import type { System } from './system.js';

export interface Stores {
  coupon: pg.Pool;
  order: pg.Pool;
  redis: Redis;
  close(): Promise<void>;
}

export const applicationName = 'firstcome-load';

export async function openStores(
  system: Pick<System, 'couponDatabaseUrl' | 'orderDatabaseUrl' | 'redisUrl'>,
): Promise<Stores> {
  const pool = (connectionString: string) => {
    const opened = new pg.Pool({
      connectionString,
      max: 2,
      connectionTimeoutMillis: 5000,
      application_name: applicationName,
    });
    opened.on('error', () => {}); // a server that stops is reported by the query that needed it
    return opened;
  };
  const coupon = pool(system.couponDatabaseUrl);
  const order = pool(system.orderDatabaseUrl);
  const redis = new Redis(system.redisUrl, { lazyConnect: true, maxRetriesPerRequest: 1 });
  redis.on('error', () => {});
  await redis.connect();
  return {
    coupon,
    order,
    redis,
    close: async () => {
      redis.disconnect();
      await Promise.all([coupon.end(), order.end()]);
    },
  };
}

export async function rowsOf<R>(pool: pg.Pool, text: string, values: unknown[] = []): Promise<R[]> {
  const { rows } = await pool.query(text, values);
  return rows as R[];
}
