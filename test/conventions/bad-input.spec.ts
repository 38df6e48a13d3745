import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon, startOrder } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createCoupon, grab } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { tokenFor } from '../support/tokens.js';
import { anyBody } from './bad-input/any-body.js';
import { anyRequest } from './bad-input/any-request.js';
import { defectsOf, send, targets } from './bad-input/case.js';
import type { Service } from './bad-input/case.js';
import { couponFields } from './bad-input/coupon-fields.js';
import { orderFields } from './bad-input/order-fields.js';

// FAULTS.md section 3 as data: never a 5xx, never silently changed.
const cases = [
  ...(['coupon', 'order'] as const).flatMap(anyBody),
  ...(await anyRequest('coupon')),
  ...(await anyRequest('order')),
  ...couponFields(),
  ...orderFields(),
];

const databases: TestDatabase[] = [];
const apps: Partial<Record<Service | 'limited', RunningApp>> = {};
const url = (service: Service | 'limited') => apps[service]!.url;

beforeAll(async () => {
  databases.push(await createTestDatabase(), await createTestDatabase());
  apps.coupon = await startCoupon({ COUPON_DATABASE_URL: databases[0]!.url });
  apps.limited = await startCoupon({ COUPON_DATABASE_URL: databases[0]!.url, RATE_LIMIT_USER: '2' });
  apps.order = await startOrder({ ORDER_DATABASE_URL: databases[1]!.url, COUPON_URL: apps.coupon.url });
});
afterAll(async () => {
  for (const app of Object.values(apps)) await app.close();
  for (const database of databases) await database.drop();
});

describe.each(['coupon', 'order'] as const)('bad input to %s', (service) => {
  // Not it.each: it cuts names, and two rows with one name would be hard to find.
  for (const wrong of cases.filter((each) => each.service === service)) {
    it(`${wrong.name} is ${wrong.status} ${wrong.code}`, async () => {
      expect(defectsOf(await send(url(service), wrong), wrong)).toEqual([]);
    });
  }

  it('what is not HTTP is 400, as a problem document all the same', async () => {
    const answer = await conversation(url(service), 'GET / HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*application\/problem\+json[^]*"code":"BAD_REQUEST"/i);
  });
});

describe('a request that does not finish in 10 s', () => {
  it('is 408 within 12 s on both services, and its connection is closed', async () => {
    const startedAt = performance.now();
    const head = async (service: Service) =>
      [
        `POST ${targets[service].path} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${await tokenFor('admin', { role: 'admin' })}`,
        'Content-Type: application/json',
        'Content-Length: 50',
        '\r\n{',
      ].join('\r\n');
    const answers = await Promise.all(
      (['coupon', 'order'] as const).map(async (service) => conversation(url(service), await head(service))),
    );
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*application\/problem\+json[^]*"code":"REQUEST_TIMEOUT"/i);
    }
    expect(performance.now() - startedAt).toBeLessThan(12_500);
  });
});

describe('what belongs to somebody else', () => {
  it('another user’s order is the 404 of an absent one, body for body', async () => {
    const admin = await tokenFor('admin', { role: 'admin' });
    const options = [{ name: 'o', price: 1, stock: 5 }];
    const product = await call(url('order'), 'POST', '/v1/admin/products', {
      token: admin,
      body: { name: 'p', options },
    });
    const body = { items: [{ optionId: product.json.options[0].optionId as number, quantity: 1 }] };
    const order = await call(url('order'), 'POST', '/v1/orders', { token: await tokenFor('ann'), key: 'k', body });
    expect(order.status).toBe(201);
    const seen = async (id: string) => {
      const { status, json } = await call(url('order'), 'GET', `/v1/orders/${id}`, { token: await tokenFor('ben') });
      const { traceId: _, ...document } = json;
      return [status, document];
    };
    expect(await seen(order.json.orderId as string)).toEqual(await seen('01980000-0000-7000-8000-000000000000'));
    expect((await seen(order.json.orderId as string))[0]).toBe(404);
  });
});

describe('over the rate limit', () => {
  it('is 429 with Retry-After, and a replay is still answered', async () => {
    const couponId = await createCoupon(url('limited'));
    const first = await grab(url('limited'), couponId, 'greedy', { key: 'k' });
    expect(first.status).toBe(201);
    await grab(url('limited'), couponId, 'greedy');
    const refused = await grab(url('limited'), couponId, 'greedy');
    expect(defectsOf(refused, { status: 429, code: 'RATE_LIMITED' })).toEqual([]);
    expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect((await grab(url('limited'), couponId, 'greedy', { key: 'k' })).text).toBe(first.text);
  });
});

/** Sends text as it is and reads until the server closes the connection. */
function conversation(base: string, text: string): Promise<string> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('utf8')));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
