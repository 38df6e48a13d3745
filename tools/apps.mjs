// Starts the four app instances and waits until every one is ready.
import { existsSync, renameSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { DECIDED, without } from './environment.mjs';
import { inData, inRoot } from './paths.mjs';
import { pickPorts } from './ports.mjs';
import { lastLines, startProcess } from './processes.mjs';
import { say, step, UserError } from './progress.mjs';
import { AUDIENCE, ISSUER, secret } from './secrets.mjs';
import { signToken } from './tokens.mjs';

// `mine` is a route that answers to our tokens only.
const INSTANCES = [
  { app: 'coupon', name: 'coupon-1', port: 3001, mine: '/v1/me/coupons' },
  { app: 'coupon', name: 'coupon-2', port: 3011, mine: '/v1/me/coupons' },
  { app: 'order', name: 'order-1', port: 3002, mine: '/v1/me/points' },
  { app: 'order', name: 'order-2', port: 3012, mine: '/v1/me/points' },
];
const READY_WITHIN_MS = 120_000;

/** What npm start decides for every instance; the rest of the contract's variables are the caller's. */
function environment(services, couponUrl) {
  return {
    ...without(process.env, DECIDED),
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
    COUPON_DATABASE_URL: services.couponDatabaseUrl,
    ORDER_DATABASE_URL: services.orderDatabaseUrl,
    REDIS_URL: services.redisUrl,
    REDLOCK_URLS: services.redlockUrls,
    // The lab is open there: only this machine may reach it.
    HOST: '127.0.0.1',
    JWT_SECRET: secret('jwt-secret'),
    JWT_ISSUER: ISSUER,
    JWT_AUDIENCE: AUDIENCE,
    SERVICE_TOKEN: secret('service-token'),
    COUPON_URL: couponUrl,
    LAB: '1',
    RATE_LIMIT_USER: '0',
    RATE_LIMIT_ADDRESS: '0',
    RATE_LIMIT_COUPON: '0',
  };
}

/** Resolves to the URLs by app. `stopping()` tells an instance that was asked to end from one that died. */
export async function startApps({ run, services, stopping }) {
  return step('Starting two coupon and two order instances', async () => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await startOnFreePorts({ run, services, stopping });
      } catch (error) {
        // Somebody took a port between our look and the listening of the app: look again.
        if (!(error instanceof PortTaken) || attempt === 3 || stopping()) throw error;
        await run.stopStage('app', say);
      }
    }
  });
}

class PortTaken extends UserError {}

async function startOnFreePorts({ run, services, stopping }) {
  const ports = await pickPorts(INSTANCES.map(({ port }) => port));
  const instances = INSTANCES.map((instance, index) => {
    const { name, port: wanted } = instance;
    const port = ports[index];
    if (port !== wanted) say(`Port ${wanted} is taken: ${name} gets ${port}`);
    return { ...instance, port, url: `http://127.0.0.1:${port}`, log: inData('logs', `${name}.log`) };
  });
  const urlsOf = (app) => instances.filter((instance) => instance.app === app).map(({ url }) => url);
  const env = environment(services, urlsOf('coupon')[0]);
  const died = (instance) => {
    if (instance.ready && !stopping())
      say(`${instance.ended}\nThe other instances go on. Ctrl-C, then npm start brings it back.`);
  };
  for (const instance of instances) await startInstance({ run, instance, env, died });
  await Promise.all(instances.map(waitUntilReady));
  return { coupon: urlsOf('coupon'), order: urlsOf('order') };
}

async function startInstance({ run, instance, env, died }) {
  const { app, name, port, log } = instance;
  if (existsSync(log)) renameSync(log, log.replace(/\.log$/, '.previous.log'));
  const main = inRoot('dist', 'apps', app, 'src', 'main.js');
  const child = await startProcess({
    command: process.execPath,
    args: [main],
    log,
    cwd: inRoot(),
    env: { ...env, PORT: String(port) },
  });
  run.addProcess('app', name, child);
  child.once('exit', (code, signal) => {
    instance.ended = `${name} (pid ${child.pid}) ended with ${signal ?? `code ${code}`}. The last lines of ${log}:\n${lastLines(log)}`;
    died(instance);
  });
}

async function waitUntilReady(instance) {
  const deadline = performance.now() + READY_WITHIN_MS;
  let answer = 'no answer';
  while (!instance.ended && performance.now() < deadline) {
    try {
      const response = await ask(instance, '/readyz');
      if (response.status === 200 && (await isOurs(instance))) {
        instance.ready = true;
        return;
      }
      answer = `${response.status} ${await response.text()}`;
    } catch (error) {
      answer = error.cause?.code ?? error.message;
    }
    await pause(100);
  }
  if (instance.ended?.includes('EADDRINUSE')) throw new PortTaken(instance.ended);
  throw new UserError(
    instance.ended ??
      `${instance.name} is not ready after ${READY_WITHIN_MS / 1000} s: ${instance.url}/readyz says ${answer}.\n${lastLines(instance.log)}`,
  );
}

const ask = ({ url }, path, headers) => fetch(url + path, { headers, signal: AbortSignal.timeout(2000) });

/** The instance of another checkout that was quicker to take the port would be ready too, but believes other tokens. */
async function isOurs(instance) {
  const token = signToken({ sub: 'npm-start' });
  return (await ask(instance, instance.mine, { authorization: `Bearer ${token}` })).status === 200;
}
