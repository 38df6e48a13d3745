import { randomUUID } from 'node:crypto';
import { createRedis, RateLimiter, REDIS, RedisModule, RedisReadiness } from '@firstcome/redis';
import { NestFactory } from '@nestjs/core';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testRedisUrl } from '../support/servers.js';

const nowhere = 'redis://127.0.0.1:1';
let redis: Redis;
beforeAll(() => {
  redis = createRedis({ url: testRedisUrl() }) as Redis;
});
afterAll(() => redis.disconnect());

const module = (url: string) =>
  NestFactory.createApplicationContext(RedisModule.forRoot({ url }), { logger: false, abortOnError: false });

describe('the rate limiter', () => {
  it('lets exactly the limit through, also of requests at once, and says when the next is free', async () => {
    const limiter = new RateLimiter(redis);
    const subject = randomUUID();
    const taken = await Promise.all(Array.from({ length: 50 }, () => limiter.take(subject, 10)));
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(10);
    // One of ten a minute is free again every 6 s.
    const odd = taken.filter(({ allowed, retryAfterMs }) =>
      allowed ? retryAfterMs !== 0 : retryAfterMs <= 0 || retryAfterMs > 6000,
    );
    expect(odd).toEqual([]);
  });

  it('counts each subject by itself', async () => {
    const limiter = new RateLimiter(redis);
    const [one, other] = [randomUUID(), randomUUID()];
    expect((await limiter.take(one, 1)).allowed).toBe(true);
    expect((await limiter.take(one, 1)).allowed).toBe(false);
    expect((await limiter.take(other, 1)).allowed).toBe(true);
  });

  it('takes nothing for what it refuses: the time until the next does not grow', async () => {
    const limiter = new RateLimiter(redis);
    const subject = randomUUID();
    await limiter.take(subject, 1);
    const first = await limiter.take(subject, 1);
    const second = await limiter.take(subject, 1);
    expect(second.retryAfterMs).toBeLessThanOrEqual(first.retryAfterMs);
  });

  it('leaves keys that expire within the minute', async () => {
    const subject = randomUUID();
    await new RateLimiter(redis).take(subject, 5);
    const ttl = await redis.pttl(`rate:${subject}`);
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(60_000);
  });

  it('sends not even a command for a limit of 0', async () => {
    const name = `spec-${randomUUID()}`;
    const own = createRedis({ url: testRedisUrl(), connectionName: name }) as Redis;
    await own.ping();
    const lastCommand = async () => {
      const list = String(await redis.client('LIST'));
      return /\bcmd=(\S+)/.exec(list.split('\n').find((line) => line.includes(name)) ?? '')?.[1];
    };
    expect((await new RateLimiter(own).take('anybody', 0)).allowed).toBe(true);
    expect(await lastCommand()).toBe('ping');
    own.disconnect();
  });

  it('limits nothing, soon, when Redis is away or hangs', async () => {
    const away = createRedis({ url: nowhere });
    expect((await new RateLimiter(away).take('anybody', 1)).allowed).toBe(true);
    away.disconnect();
    const hanging = createRedis({ url: testRedisUrl() }) as Redis;
    await hanging.ping();
    await redis.client('PAUSE', 1000);
    const startedAt = performance.now();
    expect((await new RateLimiter(hanging).take('anybody', 1)).allowed).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(900);
    hanging.disconnect();
    await redis.client('UNPAUSE');
  });
});

describe('the client', () => {
  it('fails a command by its deadline when nobody answers, and raises no unhandled error', async () => {
    const away = createRedis({ url: nowhere });
    await expect(away.ping()).rejects.toThrow(/max retries|timed out/i);
    away.disconnect();
  });

  it('takes up again after its connection was killed', async () => {
    const own = createRedis({ url: testRedisUrl() }) as Redis;
    const id = await own.client('ID');
    await redis.client('KILL', 'ID', id);
    expect(await own.ping()).toBe('PONG');
    own.disconnect();
  });
});

describe('the module', () => {
  it('starts with noeviction, is ready, and closes', async () => {
    const context = await module(testRedisUrl());
    await context.get(RedisReadiness).check();
    const client = context.get<Redis>(REDIS);
    await context.close();
    await expect.poll(() => client.status).toBe('end');
  });

  it('starts without Redis, and is not ready', async () => {
    const context = await module(nowhere);
    await expect(context.get(RedisReadiness).check()).rejects.toThrow(/max retries|timed out/i);
    await context.close();
  });

  it('refuses to start on a Redis that evicts, and says what to do', async () => {
    const [, before] = (await redis.config('GET', 'maxmemory-policy')) as [string, string];
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    try {
      await expect(module(testRedisUrl())).rejects.toThrow(/allkeys-lru.*Set it to noeviction/);
    } finally {
      await redis.config('SET', 'maxmemory-policy', before);
    }
  });
});
