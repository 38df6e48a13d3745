import { Body, Controller, Get, Inject, Injectable, Post, SetMetadata } from '@nestjs/common';
import { HttpAdapterHost, Reflector } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { LockAbortedError, LockBackendError, LockUsageError, memoryStore, type Lease } from '../index.js';
import {
  currentLease,
  DistributedLock,
  InjectLocks,
  LockExceptionFilter,
  LockHealthIndicator,
  LockModule,
  lockProblem,
  LockService,
} from './index.js';

class TeapotError extends Error {}
const Tag = (value: string) => SetMetadata('tag', value);

@Injectable()
class Orders {
  readonly leases: (Lease | undefined)[] = [];
  inside = 0;

  @Tag('above')
  @DistributedLock({
    key: (user: string, product: string) => `order:${user}:${product}`,
    waitMs: 0,
    failureMessage: 'One order at a time.',
  })
  async place(user: string, product: string, work: () => Promise<void> = async () => undefined): Promise<string> {
    this.leases.push(currentLease());
    this.inside += 1;
    await work();
    this.inside -= 1;
    return `${user} ${product}`;
  }

  @DistributedLock({ key: 'teapot' })
  @Tag('below')
  async fail(): Promise<void> {
    throw new TeapotError('short and stout');
  }

  @DistributedLock({ key: 'job:report', waitMs: 0, skipWhenBusy: true })
  async report(work: () => Promise<void>): Promise<string> {
    await work();
    return 'reported';
  }
}

export class WrongKeys {
  // @ts-expect-error the key function's parameters are the method's own
  @DistributedLock({ key: (id: number) => `order:${id}` })
  async place(id: string): Promise<string> {
    return id;
  }
}

@Controller()
class OrderController {
  constructor(@Inject(Orders) private readonly orders: Orders) {}

  @Post('orders')
  @DistributedLock({ key: 'controller' })
  place(@Body() { user }: { user: string }): Promise<string> {
    return this.orders.place(user, 'p');
  }

  @Get('busy')
  async busy(): Promise<string> {
    let release = () => {};
    const holding = this.orders.place('u', 'p', () => new Promise((resolve) => (release = resolve)));
    try {
      while (this.orders.inside === 0) await new Promise(setImmediate);
      return await this.orders.place('u', 'p');
    } finally {
      release();
      await holding;
    }
  }
}

@Injectable()
class TwoClients {
  constructor(
    @Inject(LockService) readonly plain: LockService,
    @InjectLocks('reports') readonly reports: LockService,
  ) {}
}

async function start() {
  const metrics = new Registry();
  const module = await Test.createTestingModule({
    imports: [
      LockModule.forRoot({ store: memoryStore(), metrics, closeGraceMs: 50 }),
      LockModule.forRootAsync({
        name: 'reports',
        useFactory: async () => ({ store: memoryStore({ name: 'reports' }) }),
      }),
    ],
    controllers: [OrderController],
    providers: [Orders, TwoClients],
  }).compile();
  const app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
  app.useGlobalFilters(new LockExceptionFilter(app.get(HttpAdapterHost)));
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return { app, metrics, orders: app.get(Orders), locks: app.get(LockService) };
}

describe('in Nest', () => {
  it('a decorated method runs under its key, with its lease at hand', async () => {
    const { app, orders, locks } = await start();
    const [one, two] = await Promise.all([orders.place('u1', 'p1'), orders.place('u1', 'p2')]);
    expect([one, two]).toEqual(['u1 p1', 'u1 p2']);
    expect(orders.leases.map((lease) => lease?.key)).toEqual(['order:u1:p1', 'order:u1:p2']);
    expect(locks.stats()).toMatchObject({ holds: 0, waiters: 0 });
    await app.close();
  });

  it('a refusal carries the failure message to the client as a problem document', async () => {
    const { app } = await start();
    const answer = await app.inject({ method: 'GET', url: '/busy' });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.json()).toMatchObject({ code: 'LOCK_TIMEOUT', retryable: true, detail: 'One order at a time.' });
    await app.close();
  });

  it('exceptions of the method pass unchanged', async () => {
    const { app, orders } = await start();
    await expect(orders.fail()).rejects.toBeInstanceOf(TeapotError);
    await app.close();
  });

  it('name, arity, prototype and metadata are kept, whether other decorators stand above or below', async () => {
    const reflector = new Reflector();
    const { place, fail } = Orders.prototype as unknown as Record<'place' | 'fail', () => void>;
    expect([place.name, place.length]).toEqual(['place', 2]);
    expect(Object.getPrototypeOf(place)).toBe(Object.getPrototypeOf(async () => undefined));
    expect(reflector.get('tag', place)).toBe('above');
    expect(reflector.get('tag', fail)).toBe('below');
    const { app } = await start();
    const answer = await app.inject({ method: 'POST', url: '/orders', payload: { user: 'u9' } });
    expect([answer.statusCode, answer.body]).toEqual([201, 'u9 p']);
    await app.close();
  });

  it('a scheduled job that runs elsewhere is skipped', async () => {
    const { app, orders } = await start();
    let finish = () => {};
    const running = orders.report(() => new Promise((resolve) => (finish = resolve)));
    while (!(await app.get(LockService).isLocked('job:report'))) await new Promise(setImmediate);
    expect(await orders.report(async () => undefined)).toBeUndefined();
    finish();
    expect(await running).toBe('reported');
    await app.close();
  });

  it('a class that Nest did not create says what to do', async () => {
    await expect(new Orders().place('u', 'p')).rejects.toThrow(LockUsageError);
  });

  it('several clients have names', async () => {
    const { app } = await start();
    const { plain, reports } = app.get(TwoClients);
    const leases = [await plain.acquire('same'), await reports.acquire('same')];
    expect(leases.map(({ store }) => store)).toEqual(['memory', 'reports']);
    await Promise.all(leases.map((lease) => lease.release()));
    await app.close();
  });

  it('the end of the application refuses waiters and releases what is left', async () => {
    const { app, locks } = await start();
    const lease = await locks.acquire('held');
    const waiting = locks.acquire('held').catch((error: unknown) => error);
    const { signal } = lease;
    await app.close();
    expect(await waiting).toMatchObject({ reason: 'closing' });
    expect(signal.aborted).toBe(true);
    expect(locks.stats()).toMatchObject({ holds: 0, waiters: 0, keysInUse: 0 });
  });

  it('metrics have the names of the contract and the template of the key', async () => {
    const { app, metrics, orders } = await start();
    await orders.place('u1', 'p1');
    const text = await metrics.metrics();
    for (const name of ['wait_seconds', 'hold_seconds', 'handoff_seconds', 'total', 'waiters', 'renewals_total']) {
      expect(text).toContain(`# HELP firstcome_lock_${name} `);
    }
    expect(text).toContain('# HELP firstcome_batch_size ');
    expect(text).toContain('firstcome_lock_total{lock="order:*:*",strategy="pubsub",outcome="acquired"} 1');
    await app.close();
  });

  it('health asks the store', async () => {
    const { app } = await start();
    expect(await app.get(LockHealthIndicator).isHealthy()).toEqual({ lock: { status: 'up' } });
    const broken = { isLocked: () => Promise.reject(new LockBackendError('gone', { key: 'health' })) };
    const health = new LockHealthIndicator(broken as unknown as LockService);
    expect((await health.isHealthy('lock')).lock?.status).toBe('down');
    await app.close();
  });

  it('a wait refused by the shutdown is SHUTTING_DOWN, and a wrong call is a bug', () => {
    expect(lockProblem(new LockAbortedError('closing', { key: 'k' }))).toMatchObject({
      status: 503,
      code: 'SHUTTING_DOWN',
    });
    const broken = new LockBackendError('gone', { key: 'k' });
    broken.failureMessage = 'One order at a time.';
    expect(lockProblem(broken)?.detail).not.toContain('One order');
    expect(lockProblem(new LockUsageError('wrong'))).toBeUndefined();
    expect(lockProblem(new Error('other'))).toBeUndefined();
  });
});
