import type { IncomingMessage } from 'node:http';
import { LockService } from '@firstcome/lock/nest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../support/client.js';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import type { Reply } from '../support/client.js';
import { createCoupon, grab } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import { tokenFor } from '../support/tokens.js';
import type { TestDatabase } from '../support/database.js';

let database: TestDatabase;
let one: RunningApp;

beforeAll(async () => {
  database = await createTestDatabase();
  one = await startCoupon({ COUPON_DATABASE_URL: database.url });
});
afterAll(async () => {
  await one?.close();
  await database?.drop();
});

describe.each(['batched', 'queue'])('first come, first served: the strategy %s', (strategy) => {
  it('gives serials in the order in which 30 users came to an instance, without one inversion', async () => {
    const couponId = await createCoupon(one.url);
    const locks = one.app.get(LockService);
    // Somebody has the lock until all are there; each is sent once the one before it waits.
    const lease = await locks.acquire(`coupon:issue:${couponId}`);
    const sent: Promise<Reply>[] = [];
    for (let place = 0; place < 30; place++) {
      const before = locks.stats().waiters;
      sent.push(grab(one.url, couponId, `user-${place}`, { headers: { 'x-issue-strategy': strategy } }));
      while (locks.stats().waiters === before) await new Promise(setImmediate);
    }
    await lease.release();
    const serials = (await Promise.all(sent)).map(({ json }) => json.serial as number);
    expect(serials).toEqual(serials.map((_, place) => place + 1));
  });

  it('nobody loses their place because their token is new: verifying it takes longer than knowing it', async () => {
    const couponId = await createCoupon(one.url);
    const tokens = await Promise.all(Array.from({ length: 60 }, (_, place) => tokenFor(`new-${strategy}-${place}`)));
    const known = tokens.filter((_, place) => place % 2 === 0);
    for (const token of known) await call(one.url, 'GET', '/v1/me/coupons', { token });
    const arrived: string[] = [];
    const server = one.app.getHttpServer();
    const seen = ({ headers }: IncomingMessage) => void arrived.push(headers.authorization!.slice('Bearer '.length));
    server.prependListener('request', seen);
    const headers = { 'x-issue-strategy': strategy };
    const serials = new Map<string, number>();
    const grabs = tokens.map(async (token) => {
      const { json } = await call(one.url, 'POST', `/v1/coupons/${couponId}/issues`, { token, headers });
      serials.set(token, json.serial as number);
    });
    await Promise.all(grabs);
    server.off('request', seen);
    expect(arrived).toHaveLength(60);
    expect(arrived.map((token) => serials.get(token))).toEqual(arrived.map((_, place) => place + 1));
  });
});
