import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { redlockStore } from '@firstcome/lock';
import { lockContract } from '@firstcome/lock/testing';
import { redisServerMissing, startRedisServer, type RedisServer } from './support/redis-server.js';

let servers: RedisServer[] = [];
let clients: Redis[] = [];

beforeAll(async () => {
  if (redisServerMissing) return;
  servers = await Promise.all([startRedisServer(), startRedisServer(), startRedisServer()]);
  clients = servers.map(({ port }) => new Redis(port));
});

afterAll(async () => {
  for (const client of clients) client.disconnect();
  await Promise.all(servers.map((server) => server.stop()));
});

const onServers = redisServerMissing ? describe.skip : describe;
lockContract({ describe: onServers, it }, 'redlock', {
  store: () => redlockStore(clients),
  strategies: ['pubsub', 'spin', 'adaptive'],
});
