import { LockService } from '@firstcome/lock/nest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrder } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { createOptions, itemsOf, order } from '../support/orders.js';
import { tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let lab: RunningApp;
let production: RunningApp;
let admin: string;

beforeAll(async () => {
  database = await createTestDatabase();
  lab = await startOrder({ ORDER_DATABASE_URL: database.url });
  production = await startOrder({ ORDER_DATABASE_URL: database.url, LAB: '0' });
  admin = await tokenFor('admin', { role: 'admin' });
});
afterAll(async () => {
  await lab?.close();
  await production?.close();
  await database?.drop();
});

const reset = (base: string, body: unknown, token = admin) => call(base, 'POST', '/v1/lab/reset', { token, body });

describe('X-Stock-Strategy', () => {
  it('chooses in the lab, is refused where it names none, and is ignored in production', async () => {
    const [id] = await createOptions(lab.url, {});
    const buy = (base: string, strategy: string) =>
      order(base, 'ann', itemsOf({ [id]: 1 }), { headers: { 'x-stock-strategy': strategy } });
    expect((await buy(lab.url, 'sorted')).status).toBe(201);
    for (const name of ['luck', 'SORTED', '', '__proto__']) {
      const refused = await buy(lab.url, name);
      expect([name, refused.status, refused.json.code]).toEqual([name, 400, 'STRATEGY_UNKNOWN']);
    }
    expect((await buy(production.url, 'luck')).status).toBe(201);
  });
});

describe('GET /v1/lab/locks', () => {
  it('shows who holds a lock and how many wait for it', async () => {
    const locks = lab.app.get(LockService);
    const shown = async () => {
      const { json } = await call(lab.url, 'GET', '/v1/lab/locks', { token: admin });
      // The jobs have theirs.
      return json.items.filter(({ key }: { key: string }) => !key.startsWith('job:'));
    };
    const [id] = await createOptions(lab.url, {});
    const lease = await locks.acquire(`option:${id}`);
    const bought = order(lab.url, 'ann', itemsOf({ [id]: 1 }), { headers: { 'x-stock-strategy': 'pubsub' } });
    while (locks.stats().waiters < 1) await new Promise(setImmediate);
    expect(await shown()).toEqual([
      expect.objectContaining({ key: `option:${id}`, held: true, waitersHere: 1, queued: 0 }),
    ]);
    await lease.release();
    expect((await bought).status).toBe(201);
    expect(await shown()).toEqual([]);
  });
});

describe('POST /v1/lab/reset', () => {
  it('makes a fresh product of so many options with so much stock', async () => {
    const { status, json } = await reset(lab.url, { stock: 60, options: 3 });
    expect(status).toBe(200);
    expect(json.options.map(({ available }: { available: number }) => available)).toEqual([60, 60, 60]);
    expect((await call(lab.url, 'GET', `/v1/products/${json.productId}`)).json).toEqual(json);
  });

  it('is for administrators, and refuses what it does not understand', async () => {
    expect((await reset(lab.url, { stock: 1, options: 1 }, await tokenFor('ann'))).status).toBe(403);
    for (const body of [
      {},
      { stock: 1 },
      { stock: -1, options: 1 },
      { stock: 1, options: 0 },
      { stock: 1, options: 1001 },
    ]) {
      expect([body, (await reset(lab.url, body)).status]).toEqual([body, 400]);
    }
  });

  it('is not there in production', async () => {
    expect((await reset(production.url, { stock: 1, options: 1 })).status).toBe(404);
    for (const path of ['/v1/lab/invariants', '/v1/lab/locks']) {
      expect([path, (await call(production.url, 'GET', path, { token: admin })).status]).toEqual([path, 404]);
    }
  });
});
