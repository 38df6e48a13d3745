import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon, startOrder } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { serviceToken, tokenFor } from '../support/tokens.js';

const bodies = 20_000;
const atOnce = 50;
const seed = randomInt(2 ** 31);

const databases: TestDatabase[] = [];
const apps: Partial<Record<'coupon' | 'order', RunningApp>> = {};

beforeAll(async () => {
  databases.push(await createTestDatabase(), await createTestDatabase());
  apps.coupon = await startCoupon({ COUPON_DATABASE_URL: databases[0]!.url });
  apps.order = await startOrder({ ORDER_DATABASE_URL: databases[1]!.url, COUPON_URL: apps.coupon.url });
});
afterAll(async () => {
  for (const app of Object.values(apps)) await app.close();
  for (const database of databases) await database.drop();
});

interface Target {
  service: 'coupon' | 'order';
  path: string;
  as: 'user' | 'admin' | 'service';
  /** A body as the schema has it; the generator bends it. */
  shape: Record<string, fc.Arbitrary<unknown>>;
}

// A value as the schema wants it, or one that is nearly it, or anything at all.
const whole = fc.oneof(
  fc.integer({ min: 1, max: 1000 }),
  fc.constantFrom(0, -1, 1.5, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1e21),
  fc.maxSafeInteger(),
);
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 110 }),
  fc.string({ unit: 'binary', maxLength: 110 }),
  fc.constantFrom('', ' ', 'FIXED', '\u0000', '️'.repeat(150)),
);
const time = fc.oneof(
  fc.date().map((date) => (Number.isNaN(date.getTime()) ? 'never' : date.toISOString())),
  text,
);
const anything = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });
const or = (wanted: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 6, arbitrary: wanted }, { weight: 1, arbitrary: anything });

const discount = fc.record(
  { type: or(fc.constantFrom('FIXED', 'PERCENT')), value: or(whole), maxDiscount: or(whole) },
  { requiredKeys: [] },
);
const item = fc.record({ optionId: or(whole), quantity: or(whole) }, { requiredKeys: [] });
const option = fc.record({ name: or(text), price: or(whole), stock: or(whole) }, { requiredKeys: [] });

const targets: Target[] = [
  {
    service: 'coupon',
    path: '/v1/admin/coupons',
    as: 'admin',
    shape: {
      name: text,
      discount,
      minOrder: whole,
      total: whole,
      perUserLimit: whole,
      startsAt: time,
      endsAt: time,
      validDays: whole,
    },
  },
  { service: 'coupon', path: '/v1/coupons/1/issues', as: 'user', shape: {} },
  { service: 'coupon', path: '/v1/lab/reset', as: 'admin', shape: { couponId: whole, total: whole } },
  {
    service: 'coupon',
    path: '/internal/v1/transactions/fuzz/prepare',
    as: 'service',
    shape: {
      userCouponId: fc.oneof(fc.uuid(), text),
      orderId: fc.oneof(fc.uuid(), text),
      userId: text,
      subtotal: whole,
      pay: fc.boolean(),
    },
  },
  {
    service: 'order',
    path: '/v1/orders',
    as: 'user',
    shape: { items: fc.array(item, { maxLength: 6 }), userCouponId: fc.oneof(fc.uuid(), text), expectedTotal: whole },
  },
  { service: 'order', path: '/v1/me/points/charges', as: 'user', shape: { amount: whole } },
  {
    service: 'order',
    path: '/v1/admin/products',
    as: 'admin',
    shape: { name: text, options: fc.array(option, { maxLength: 6 }) },
  },
  {
    service: 'order',
    path: '/v1/admin/options/1/stock-adjustments',
    as: 'admin',
    shape: { delta: whole, reason: text },
  },
];

/** Most fields of the schema, some spoilt, sometimes one too many, sometimes no JSON at all. */
function rawBody({ shape }: Target): fc.Arbitrary<string | Buffer> {
  const fields = Object.fromEntries(Object.entries(shape).map(([name, value]) => [name, or(value)]));
  const object = fc.record(fields, { requiredKeys: [] });
  const extended = fc
    .tuple(object, fc.dictionary(fc.string(), anything, { maxKeys: 1 }))
    .map(([body, extra]) => ({ ...body, ...extra }));
  const json = fc
    .oneof({ weight: 8, arbitrary: object }, { weight: 1, arbitrary: extended }, { weight: 1, arbitrary: anything })
    .map((value) => JSON.stringify(value));
  const cut = json.map((body) => body.slice(0, Math.ceil(body.length / 2)));
  const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
  return fc.oneof({ weight: 18, arbitrary: json }, { weight: 1, arbitrary: cut }, { weight: 1, arbitrary: bytes });
}

const requests = fc.constantFrom(...targets).chain((target) => rawBody(target).map((raw) => ({ target, raw })));

describe(`${bodies} generated bodies (seed ${seed})`, () => {
  it('get a good answer or a refusal that names the mistake, never a 5xx', { timeout: 300_000 }, async () => {
    console.log(`fuzz: seed ${seed}`);
    const tokens = {
      user: await tokenFor('ann'),
      admin: await tokenFor('root', { role: 'admin' }),
      service: serviceToken,
    };
    const statuses: Record<number, number> = {};
    const failures: string[] = [];
    for (let sent = 0; sent < bodies; sent += atOnce) {
      const batch = fc.sample(requests, { seed: seed + sent, numRuns: atOnce });
      await Promise.all(
        batch.map(async ({ target, raw }, index) => {
          const token = tokens[target.as];
          const reply = await call(apps[target.service]!.url, 'POST', target.path, {
            token,
            key: `fuzz-${sent + index}`,
            raw,
          });
          statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
          if (reply.status >= 500)
            failures.push(`${target.path} ${raw.toString().slice(0, 300)} -> ${reply.text.slice(0, 300)}`);
        }),
      );
    }
    expect(failures, JSON.stringify(statuses)).toEqual([]);
    // A generator that only makes nonsense proves little, and one that makes none proves nothing.
    expect(statuses[201], JSON.stringify(statuses)).toBeGreaterThan(bodies / 100);
    expect(statuses[400], JSON.stringify(statuses)).toBeGreaterThan(bodies / 10);
  });
});
