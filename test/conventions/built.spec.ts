import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueStrategyNames } from '../../apps/coupon/src/issuance/strategy.js';
import { build, startBuilt } from '../support/built.js';
import { call } from '../support/client.js';
import { createCoupon, grab } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { jwtSecret, serviceToken } from '../support/tokens.js';

const databases: TestDatabase[] = [];
const environment = { coupon: {}, order: {} } as Record<'coupon' | 'order', Record<string, string>>;

beforeAll(async () => {
  await build();
  databases.push(await createTestDatabase(), await createTestDatabase());
  environment.coupon = { COUPON_DATABASE_URL: databases[0]!.url };
  environment.order = { ORDER_DATABASE_URL: databases[1]!.url, COUPON_URL: 'http://127.0.0.1:1' };
}, 300_000);
afterAll(async () => {
  for (const database of databases) await database.drop();
});

describe.each(['coupon', 'order'] as const)('the built %s', (service) => {
  it('starts, is ready, says where it listens, tells no secret, and stops with 0', async () => {
    const app = await startBuilt(service, environment[service]);
    expect(app.url, app.output()).toBeDefined();
    expect((await call(app.url!, 'GET', '/readyz')).json).toEqual({ status: 'ok' });
    expect((await call(app.url!, 'GET', '/metrics')).text).toContain('process_cpu_seconds_total');
    expect(await app.stop(), app.output()).toBe(0);
    for (const secret of [jwtSecret, serviceToken]) expect(app.output()).not.toContain(secret);
  });

  it('refuses to start with a wrong configuration, names every mistake, and ends with 1', async () => {
    const app = await startBuilt(service, { LAB: 'perhaps', PORT: 'x', JWT_SECRET: 'short' });
    expect(await app.exited).toBe(1);
    for (const name of ['LAB', 'PORT', 'JWT_SECRET', `${service.toUpperCase()}_DATABASE_URL`]) {
      expect(app.output()).toMatch(new RegExp(`- ${name} .+`));
    }
    expect(app.output()).not.toContain('short');
  });

  it('shows no lab and no documents in production', async () => {
    const app = await startBuilt(service, { ...environment[service], NODE_ENV: 'production', LAB: '0' });
    for (const path of ['/docs', '/openapi.json', '/v1/lab/invariants', '/v1/lab/reset']) {
      expect([path, (await call(app.url!, 'GET', path)).status]).toEqual([path, 404]);
    }
    expect(await app.stop()).toBe(0);
  });
});

describe('the built coupon, with everything that a build could leave out', () => {
  it('issues with every strategy', async () => {
    const app = await startBuilt('coupon', environment.coupon);
    for (const strategy of issueStrategyNames) {
      const sent = { headers: { 'x-issue-strategy': strategy } };
      const reply = await grab(app.url!, await createCoupon(app.url!), 'ann', sent);
      expect([strategy, reply.status, reply.json.serial]).toEqual([strategy, 201, 1]);
    }
    expect(await app.stop()).toBe(0);
  });

  it('limits the grab, and ignores the strategy header without the lab', async () => {
    const app = await startBuilt('coupon', { ...environment.coupon, RATE_LIMIT_USER: '1', LAB: '0' });
    const couponId = await createCoupon(app.url!);
    const user = `user-${process.pid}-${Date.now()}`;
    const sent = { headers: { 'x-issue-strategy': 'luck' } };
    expect((await grab(app.url!, couponId, user, sent)).status).toBe(201);
    expect((await grab(app.url!, couponId, user, sent)).status).toBe(429);
    expect(await app.stop()).toBe(0);
  });
});
