import { startOrder } from './apps.js';
import type { RunningApp } from './apps.js';
import { createTestDatabase } from './database.js';
import type { TestDatabase } from './database.js';

export interface Shop {
  database: TestDatabase;
  shop: RunningApp;
  /** For beforeAll to return: vitest calls it after the last test of the file. */
  close: () => Promise<void>;
}

export interface Shops extends Shop {
  other: RunningApp;
}

/** An instance of the order app on an empty database. */
export async function openShop(): Promise<Shop> {
  const database = await createTestDatabase();
  const shop = await startOrder({ ORDER_DATABASE_URL: database.url }).catch(async (error: unknown) => {
    await database.drop();
    throw error;
  });
  return { database, shop, close: () => shop.close().then(() => database.drop()) };
}

/** Two instances on one empty database: what one of them has answered, the other knows. */
export async function openShops(): Promise<Shops> {
  const one = await openShop();
  const other = await startOrder({ ORDER_DATABASE_URL: one.database.url }).catch(async (error: unknown) => {
    await one.close();
    throw error;
  });
  return { ...one, other, close: () => other.close().then(() => one.close()) };
}
