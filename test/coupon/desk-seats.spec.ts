import { Cluster, Redis } from 'ioredis';
import { WebSocket } from 'ws';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startRedisCluster } from '../lock/support/redis-cluster.js';
import { commandsDuring, redisServerMissing, startRedisServer } from '../lock/support/redis-server.js';
import type { RedisServer } from '../lock/support/redis-server.js';
import { sleep, until } from '../lock/support/waiting.js';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { build, startBuilt } from '../support/built.js';
import { call } from '../support/client.js';
import { createCoupon } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { everybodyLeaves, knock, seated, sit } from '../support/desk.js';
import { tokenFor } from '../support/tokens.js';

// How long a seat lives by itself: with a Redis of its own, to count its commands and to stop it.
const ttlMs = 10_000;

let server: RedisServer;
let database: TestDatabase;
let environment: Record<string, string>;
let one: RunningApp;
let other: RunningApp;
let redis: Redis;

beforeAll(async () => {
  if (redisServerMissing) return;
  server = await startRedisServer();
  database = await createTestDatabase();
  environment = { COUPON_DATABASE_URL: database.url, REDIS_URL: server.url };
  one = await startCoupon(environment);
  other = await startCoupon(environment);
  redis = new Redis(server.port);
});
afterEach(everybodyLeaves);
afterAll(async () => {
  await one?.close();
  await other?.close();
  redis?.disconnect();
  await server?.stop();
  await database?.drop();
});

const lockOf = (couponId: number, role = 'editor') => `lock:desk:${couponId}:${role}`;
/** A bound that is the law plus what a busy machine may be late. */
const untilGone = (couponId: number, withinMs: number) =>
  until('the seat is free', async () => (await redis.exists(lockOf(couponId))) === 0, withinMs + 3000);

describe.skipIf(redisServerMissing)('the seats of a process', () => {
  it('are renewed in one round trip per TTL/3, 100 as well as one', async () => {
    const coupons = await Promise.all(Array.from({ length: 50 }, () => createCoupon(one.url)));
    const roles = ['editor', 'reviewer'];
    const visitors = await Promise.all(coupons.flatMap((id) => roles.map((role) => seated(one.url, id, role))));
    const startedAt = performance.now();
    const commands = await commandsDuring(server, () => sleep(7500));
    const rounds = (performance.now() - startedAt) / (ttlMs / 3);
    // Two rounds at least are in this time, and the first of a process sends the script itself.
    expect(commands.length).toBeGreaterThanOrEqual(2);
    expect(commands.length).toBeLessThanOrEqual(Math.ceil(rounds));
    expect(commands.filter((command) => !['eval', 'evalsha'].includes(command))).toEqual([]);
    const left = await Promise.all(coupons.flatMap((id) => roles.map((role) => redis.pttl(lockOf(id, role)))));
    expect(left).toHaveLength(100);
    expect(Math.min(...left)).toBeGreaterThan(ttlMs / 3);
    expect(visitors.filter(({ socket }) => socket.readyState !== WebSocket.OPEN)).toEqual([]);
  });

  it('are lost to whoever stands in the key at the next renewal: the session is closed with DESK_TAKEN', async () => {
    const [couponId, another] = [await createCoupon(one.url), await createCoupon(one.url)];
    const replaced = await seated(one.url, couponId, 'editor');
    const removed = await seated(one.url, another, 'editor');
    const unharmed = await seated(one.url, another, 'reviewer');
    await redis.set(lockOf(couponId), 'eve:session:secret', 'PX', 60_000);
    await redis.del(lockOf(another));
    const taken = { code: 4409, reason: 'DESK_TAKEN' };
    expect(await Promise.all([replaced.closed, removed.closed])).toEqual([taken, taken]);
    expect(await redis.get(lockOf(couponId))).toBe('eve:session:secret');
    expect(unharmed.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('outlive a Redis that does not answer, and end by the local clock when it does not answer for too long', async () => {
    const couponId = await createCoupon(one.url);
    const { socket, closed } = await seated(one.url, couponId, 'editor');
    const value = await redis.get(lockOf(couponId));
    server.hang();
    // Longer than to the renewal that is due within it, shorter than what is left of the seat.
    await sleep(ttlMs / 2);
    expect(socket.readyState).toBe(WebSocket.OPEN);
    server.resume();
    // Past the end that the seat would have had: a renewal was answered.
    await sleep(ttlMs * 0.6);
    expect([await redis.get(lockOf(couponId)), socket.readyState]).toEqual([value, WebSocket.OPEN]);

    server.hang();
    try {
      const admin = await tokenFor('ben', { role: 'admin' });
      const path = `/v1/admin/coupons/${couponId}`;
      const [knocked, change, look, resume, pause] = await Promise.all([
        sit(other.url, couponId, 'reviewer').then(({ told }) => told),
        call(one.url, 'PATCH', path, { token: admin, body: { name: 'unseen' } }),
        call(one.url, 'GET', `${path}/desk`, { token: admin }),
        call(one.url, 'POST', `${path}/resume`, { token: admin }),
        // To stop a sale nobody has to be asked.
        call(other.url, 'POST', `${path}/pause`, { token: admin }),
      ]);
      expect(knocked).toEqual({ code: 1013, reason: 'LOCK_BACKEND_UNAVAILABLE' });
      for (const { status, json } of [change, look, resume]) {
        expect([status, json.code, json.retryable]).toEqual([503, 'LOCK_BACKEND_UNAVAILABLE', true]);
      }
      expect([pause.status, pause.json.status]).toEqual([200, 'PAUSED']);
      expect(await closed).toEqual({ code: 1013, reason: 'LOCK_LOST' });
    } finally {
      server.resume();
    }
    await untilGone(couponId, ttlMs);
    await seated(other.url, couponId, 'editor');
  });

  it('are kept by whoever answers, though the process was too busy to read the answer before its next ping', async () => {
    const couponId = await createCoupon(one.url);
    const token = await tokenFor('ann', { role: 'admin' });
    const query = `?couponId=${couponId}&role=editor`;
    const { socket, told } = knock(one.url, query, { token, autoPong: false });
    expect((await told).seated?.role).toBe('editor');
    const ping = () => new Promise((resolve) => socket.once('ping', resolve));
    socket.once('ping', () => {
      socket.pong();
      // Client and instance share this process: nothing in it runs until the next ping is due, and timers come first then.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ttlMs * 0.4);
      socket.on('ping', () => socket.pong());
    });
    await ping();
    await ping();
    await ping();
    expect(socket.readyState).toBe(WebSocket.OPEN);
  });

  it('are free within the TTL when a client is gone without a word, and no other’s is', async () => {
    const couponId = await createCoupon(one.url);
    const gone = await seated(one.url, couponId, 'editor');
    const here = await seated(one.url, couponId, 'reviewer');
    // It reads nothing any more, so it answers no ping; its connection stays as open as that of a laptop that was shut.
    gone.socket.pause();
    await untilGone(couponId, ttlMs);
    expect(here.socket.readyState).toBe(WebSocket.OPEN);
    expect(await redis.exists(lockOf(couponId, 'reviewer'))).toBe(1);
    await seated(other.url, couponId, 'editor');
  });
});

describe.skipIf(redisServerMissing)('the seats of a process of its own', () => {
  beforeAll(() => build().then(() => undefined), 300_000);

  it('are free within the TTL when it is killed', async () => {
    const killed = await startBuilt('coupon', environment);
    const couponId = await createCoupon(one.url);
    await seated(killed.url!, couponId, 'editor');
    await seated(one.url, couponId, 'reviewer');
    await killed.kill();
    const leftMs = await redis.pttl(lockOf(couponId));
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(ttlMs);
    expect(await (await sit(one.url, couponId, 'editor')).told).toEqual({ code: 4409, reason: 'DESK_TAKEN' });
    await untilGone(couponId, ttlMs);
    await seated(one.url, couponId, 'editor');
    expect(await redis.exists(lockOf(couponId, 'reviewer'))).toBe(1);
  });

  it('are kept by one that was stopped for less than the TTL, and lost to it by its own clock after more', async () => {
    const hung = await startBuilt('coupon', environment);
    const couponId = await createCoupon(one.url);
    const token = await tokenFor('ann', { role: 'admin' });
    const query = `?couponId=${couponId}&role=editor`;
    const { socket, told, closed } = knock(hung.url!, query, { token, autoPong: false });
    const ping = () => new Promise((resolve) => socket.once('ping', resolve));
    try {
      expect((await told).seated?.role).toBe('editor');
      const value = await redis.get(lockOf(couponId));
      await ping();
      // The answer comes in time, to a process that cannot read it until its next ping is due.
      hung.hang();
      socket.pong();
      await sleep(ttlMs / 2);
      socket.on('ping', () => socket.pong());
      hung.resume();
      await ping();
      expect(await redis.get(lockOf(couponId))).toBe(value);
      hung.hang();
      await untilGone(couponId, ttlMs);
      await seated(other.url, couponId, 'editor', 'ben');
      hung.resume();
      expect(await closed).toEqual({ code: 1013, reason: 'LOCK_LOST' });
      expect((await redis.get(lockOf(couponId)))?.startsWith('ben:')).toBe(true);
    } finally {
      hung.resume();
      await hung.kill();
    }
  });

  it('are free when their sockets hear of a stop, which waits for nobody who does not answer', async () => {
    const stopped = await startBuilt('coupon', environment);
    const [couponId, another] = [await createCoupon(one.url), await createCoupon(one.url)];
    const { closed } = await seated(stopped.url!, couponId, 'editor');
    const deaf = await seated(stopped.url!, another, 'editor');
    deaf.socket.pause();
    const exit = stopped.stop();
    expect(await closed).toEqual({ code: 1001, reason: 'SHUTTING_DOWN' });
    expect(await redis.exists(lockOf(couponId), lockOf(another))).toBe(0);
    await seated(one.url, couponId, 'editor');
    expect(await exit, stopped.output()).toBe(0);
  });
});

describe.skipIf(redisServerMissing)('the seats on a Redis Cluster', () => {
  it('lie on all its nodes, each under one name, and are renewed and lost there as elsewhere', async () => {
    const servers = await startRedisCluster();
    const nodes = servers.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const target = { COUPON_DATABASE_URL: database.url, REDIS_URL: '', REDIS_CLUSTER_NODES: nodes };
    const apps = [await startCoupon(target), await startCoupon(target)] as const;
    const cluster = new Cluster(servers.nodes);
    try {
      const coupons = await Promise.all(Array.from({ length: 10 }, () => createCoupon(apps[0].url)));
      const visitors = await Promise.all(coupons.map((id) => seated(apps[0].url, id, 'editor')));
      const name = (id: number | undefined) => `lock:{desk:${id}:editor}`;
      expect(await (await sit(apps[1].url, coupons[0]!, 'editor')).told).toEqual({ code: 4409, reason: 'DESK_TAKEN' });
      expect((await cluster.get(name(coupons[0])))?.startsWith(`ann:${visitors[0]!.sessionId}:`)).toBe(true);
      await cluster.set(name(coupons[0]), 'eve:session:secret', 'PX', 60_000);
      expect(await visitors[0]!.closed).toEqual({ code: 4409, reason: 'DESK_TAKEN' });
      const left = await Promise.all(coupons.slice(1).map((id) => cluster.pttl(name(id))));
      expect(Math.min(...left)).toBeGreaterThan(ttlMs / 3);
    } finally {
      everybodyLeaves();
      for (const app of apps) await app.close();
      cluster.disconnect();
      await servers.stop();
    }
  });
});
