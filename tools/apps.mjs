// Starts the four app instances and waits until every one is ready.
import { existsSync, renameSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { DECIDED, without } from './environment.mjs';
import { inData, inRoot } from './paths.mjs';
import { pickPorts } from './ports.mjs';
import { lastLines, startProcess } from './processes.mjs';
import { say, step, UserError } from './progress.mjs';
import { AUDIENCE, ISSUER, secret } from './secrets.mjs';

const INSTANCES = [
  { app: 'coupon', name: 'coupon-1', port: 3001 },
  { app: 'coupon', name: 'coupon-2', port: 3011 },
  { app: 'order', name: 'order-1', port: 3002 },
  { app: 'order', name: 'order-2', port: 3012 },
];
const READY_WITHIN_MS = 60_000;

/** What npm start decides for every instance; the rest of the contract's variables are the caller's. */
function environment(services, couponUrl) {
  return {
    ...without(process.env, DECIDED),
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
    COUPON_DATABASE_URL: services.couponDatabaseUrl,
    ORDER_DATABASE_URL: services.orderDatabaseUrl,
    REDIS_URL: services.redisUrl,
    REDLOCK_URLS: services.redlockUrls,
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
  const ports = await pickPorts(INSTANCES.map(({ port }) => port));
  const instances = INSTANCES.map((instance, index) => ({
    ...instance,
    port: ports[index],
    url: `http://127.0.0.1:${ports[index]}`,
    log: inData('logs', `${instance.name}.log`),
  }));
  for (const { name, port } of INSTANCES) {
    const instance = instances.find((other) => other.name === name);
    if (instance.port !== port) say(`Port ${port} is taken: ${name} gets ${instance.port}`);
  }
  const urlsOf = (app) => instances.filter((instance) => instance.app === app).map(({ url }) => url);
  await step('Starting two coupon and two order instances', async () => {
    const env = environment(services, urlsOf('coupon')[0]);
    for (const instance of instances) await startInstance({ run, instance, env, stopping });
    await Promise.all(instances.map(waitUntilReady));
  });
  return { coupon: urlsOf('coupon'), order: urlsOf('order') };
}

async function startInstance({ run, instance, env, stopping }) {
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
    if (instance.ready && !stopping())
      say(`${instance.ended}\nThe other instances go on. Ctrl-C, then npm start brings it back.`);
  });
}

async function waitUntilReady(instance) {
  const deadline = performance.now() + READY_WITHIN_MS;
  let answer = 'no answer';
  while (!instance.ended && performance.now() < deadline) {
    try {
      const response = await fetch(`${instance.url}/readyz`, { signal: AbortSignal.timeout(2000) });
      if (response.status === 200) {
        instance.ready = true;
        return;
      }
      answer = `${response.status} ${await response.text()}`;
    } catch (error) {
      answer = error.cause?.code ?? error.message;
    }
    await pause(100);
  }
  throw new UserError(
    instance.ended ??
      `${instance.name} is not ready after ${READY_WITHIN_MS / 1000} s: ${instance.url}/readyz says ${answer}.\n${lastLines(instance.log)}`,
  );
}
