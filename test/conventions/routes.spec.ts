import { listRoutes } from '@firstcome/http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon, startOrder } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { serviceToken, tokenFor } from '../support/tokens.js';

type Access = 'public' | 'user' | 'admin' | 'service';

// Every route of both apps and who may call it. A new route is red here until somebody has decided that.
const operation: Record<string, Access> = {
  'GET /livez': 'public',
  'GET /readyz': 'public',
  'GET /metrics': 'public',
  'ALL /internal/*': 'service',
};
const table: Record<'coupon' | 'order', Record<string, Access>> = {
  coupon: {
    ...operation,
    'GET /v1/coupons': 'public',
    'GET /v1/coupons/:id': 'public',
    'POST /v1/coupons/:id/issues': 'user',
    'GET /v1/me/coupons': 'user',
    'GET /v1/me/tickets/:id': 'user',
    'POST /v1/admin/coupons': 'admin',
    'PATCH /v1/admin/coupons/:id': 'admin',
    'POST /v1/admin/coupons/:id/pause': 'admin',
    'POST /v1/admin/coupons/:id/resume': 'admin',
    'POST /v1/admin/user-coupons/:id/revocations': 'admin',
    'GET /v1/admin/coupons/:id/desk': 'admin',
    // To say that it is a WebSocket; the socket itself asks for an administrator (test/coupon/desk.spec.ts).
    'GET /v1/desk': 'public',
    'POST /internal/v1/user-coupons/:id/reserve': 'service',
    'POST /internal/v1/user-coupons/:id/confirm': 'service',
    'POST /internal/v1/user-coupons/:id/release': 'service',
    'POST /internal/v1/transactions/:gid/prepare': 'service',
    'POST /internal/v1/transactions/:gid/commit': 'service',
    'POST /internal/v1/transactions/:gid/rollback': 'service',
    'POST /v1/lab/reset': 'admin',
    'GET /v1/lab/invariants': 'admin',
    'GET /v1/lab/locks': 'admin',
  },
  order: {
    ...operation,
    'GET /v1/products': 'public',
    'GET /v1/products/popular': 'public',
    'GET /v1/products/:id': 'public',
    'GET /v1/me/points': 'user',
    'GET /v1/me/points/ledger': 'user',
    'POST /v1/me/points/charges': 'user',
    'POST /v1/orders': 'user',
    'POST /v1/orders/:id/payments': 'user',
    'POST /v1/orders/:id/cancellations': 'user',
    'POST /v1/orders/:id/refunds': 'user',
    'GET /v1/orders/:id': 'user',
    'GET /v1/orders/:id/events': 'user',
    'GET /v1/me/orders': 'user',
    'GET /v1/me/tickets/:id': 'user',
    'POST /v1/admin/products': 'admin',
    'POST /v1/admin/options/:id/stock-adjustments': 'admin',
    'POST /v1/lab/reset': 'admin',
    'GET /v1/lab/invariants': 'admin',
    'GET /v1/lab/locks': 'admin',
  },
};

// What each caller gets from a route of each access: let through, or refused.
const refusal: Record<Access, Record<'nobody' | 'user' | 'admin' | 'service', 401 | 403 | undefined>> = {
  public: { nobody: undefined, user: undefined, admin: undefined, service: undefined },
  user: { nobody: 401, user: undefined, admin: undefined, service: 401 },
  admin: { nobody: 401, user: 403, admin: undefined, service: 401 },
  service: { nobody: 401, user: 403, admin: 403, service: undefined },
};

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

describe.each(['coupon', 'order'] as const)('the routes of %s', (service) => {
  it('are those of the table, with the access of the table', () => {
    const actual = listRoutes(apps[service]!.app).map(({ method, path, access }) => [`${method} ${path}`, access]);
    expect(Object.fromEntries(actual)).toEqual(table[service]);
  });

  describe.each(Object.entries(table[service]))('%s (%s)', (route, access) => {
    it.each(Object.entries(refusal[access]))('answers %s with %s', async (role, refused) => {
      const tokens = {
        nobody: undefined,
        user: tokenFor('ann'),
        admin: tokenFor('root', { role: 'admin' }),
        service: serviceToken,
      };
      const [method, path] = route.split(' ') as [string, string];
      const token = await tokens[role as keyof typeof tokens];
      const { status } = await call(apps[service]!.url, method === 'ALL' ? 'POST' : method, concrete(path), { token });
      expect([401, 403].includes(status) ? status : undefined).toBe(refused);
    });
  });
});

/** Ids of nothing: what is asked is who may knock, not what is there. */
function concrete(path: string): string {
  const id = /orders|user-coupons|tickets/.test(path) ? '01980000-0000-7000-8000-000000000000' : '999999999';
  return path.replace(':id', id).replace(':gid', 'nobodys').replace('*', 'v1/anything');
}
