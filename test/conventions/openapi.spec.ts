import { readFileSync } from 'node:fs';
import { listRoutes } from '@firstcome/http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon, startOrder } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { definedCodes } from './problems.js';

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

interface Document {
  info: { version: string };
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
}

async function documentOf(service: 'coupon' | 'order') {
  const { status, text, json } = await call(apps[service]!.url, 'GET', '/openapi.json');
  expect(status).toBe(200);
  const document: Document = json;
  return { text, document };
}

describe.each(['coupon', 'order'] as const)('/openapi.json of %s', (service) => {
  it('lists every route', async () => {
    const { document } = await documentOf(service);
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    // "Whatever else is asked of /internal" is no route that anybody could call.
    const routes = listRoutes(apps[service]!.app).filter(({ path }) => path !== '/internal/*');
    const expected = routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(documented.toSorted()).toEqual(expected.toSorted());
  });

  it('describes a good answer of every route, or the WebSocket that it becomes', async () => {
    const { document } = await documentOf(service);
    const without = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(
          ([, { responses }]) => !Object.keys(responses).some((status) => status.startsWith('2') || status === '101'),
        )
        .map(([method]) => `${method} ${path}`),
    );
    expect(without).toEqual([]);
  });
});

describe('the version', () => {
  it.each(['coupon', 'order'] as const)('of %s is that of package.json', async (service) => {
    const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect((await documentOf(service)).document.info.version).toBe(version);
  });
});

describe('every code', () => {
  it('is in /openapi.json of coupon or order', async () => {
    const documents = [(await documentOf('coupon')).text, (await documentOf('order')).text];
    const codes = [...new Set(definedCodes.map(({ code }) => code))];
    expect(codes.filter((code) => !documents.some((text) => text.includes(`"${code}"`)))).toEqual([]);
  });
});
