import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createCouponApp } from '../../apps/coupon/src/app.module.js';
import { loadConfig as loadCouponConfig } from '../../apps/coupon/src/config.js';
import { createOrderApp } from '../../apps/order/src/app.module.js';
import { loadConfig as loadOrderConfig } from '../../apps/order/src/config.js';
import { testRedisUrl } from './servers.js';
import { jwtSecret, serviceToken } from './tokens.js';

export interface RunningApp extends AsyncDisposable {
  url: string;
  app: NestFastifyApplication;
  close(): Promise<void>;
}

/** What both apps under test are told, unless a spec says otherwise. Limits are off: the specs are one fast user. */
export const testEnvironment = (): Record<string, string> => ({
  REDIS_URL: testRedisUrl(),
  REDLOCK_URLS: redlockUrls(),
  JWT_SECRET: jwtSecret,
  SERVICE_TOKEN: serviceToken,
  LAB: '1',
  LOG_LEVEL: 'error',
  RATE_LIMIT_USER: '0',
  RATE_LIMIT_ADDRESS: '0',
  RATE_LIMIT_COUPON: '0',
});

/** Three databases of one server: enough for three votes, and all that these specs ask of them. */
function redlockUrls(): string {
  return [1, 2, 3].map((database) => new URL(`/${database}`, testRedisUrl()).href).join(',');
}

/** The whole coupon app in this process, behind a real server on a free port. */
export async function startCoupon(overrides: Record<string, string>): Promise<RunningApp> {
  return listen(await createCouponApp(loadCouponConfig({ ...testEnvironment(), ...overrides })));
}

/** The whole order app in this process, behind a real server on a free port. */
export async function startOrder(overrides: Record<string, string>): Promise<RunningApp> {
  return listen(await createOrderApp(loadOrderConfig({ ...testEnvironment(), ...overrides })));
}

async function listen(app: NestFastifyApplication): Promise<RunningApp> {
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as { port: number };
  const close = () => app.close();
  return { url: `http://127.0.0.1:${port}`, app, close, [Symbol.asyncDispose]: close };
}
