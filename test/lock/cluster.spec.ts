import { Cluster } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLocks, LockBackendError, redisStore, type Locks } from '@firstcome/lock';
import { lockContract } from '@firstcome/lock/testing';
import { startRedisCluster, type RedisCluster } from './support/redis-cluster.js';
import { commandsDuring, redisServerMissing } from './support/redis-server.js';

let servers: RedisCluster;
let cluster: Cluster;
const open: Locks[] = [];

function client(): Locks {
  const locks = createLocks({ store: redisStore(cluster) });
  open.push(locks);
  return locks;
}

const onCluster = redisServerMissing ? describe.skip : describe;

beforeAll(async () => {
  if (redisServerMissing) return;
  servers = await startRedisCluster({ replicas: true });
  cluster = new Cluster(servers.nodes, { clusterRetryStrategy: () => 100 });
  await cluster.ping();
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((locks) => locks.close()));
});

afterAll(async () => {
  if (redisServerMissing) return;
  cluster.disconnect();
  await servers.stop();
});

lockContract({ describe: onCluster, it }, 'Redis Cluster', {
  store: () => redisStore(cluster),
  strategies: ['pubsub', 'queue'],
});

onCluster('on a Cluster', () => {
  it('everything of a lock stands in one slot, under the names of the contract', async () => {
    const locks = client();
    const lease = await locks.acquire('coupon:issue:42');
    expect(await cluster.get('lock:{coupon:issue:42}')).toBe(lease.token);
    expect(Number(await cluster.get('lock:fence:{coupon:issue:42}'))).toBeGreaterThanOrEqual(lease.fence);
    await lease.release();
  });

  it('a release is heard through the sharded channel of the key, and nobody subscribes per hand-over', async () => {
    const [one, two] = [client(), client()];
    const owner = await servers.ownerOf('lock:{cluster:shard}');
    let heldFor = 0;
    const commands = await commandsDuring(owner, async () => {
      const bodies = [one, two].flatMap((locks) =>
        Array.from({ length: 20 }, () =>
          locks.withLock('cluster:shard', async () => void (heldFor += 1), { recheckMs: 60_000, localLine: false }),
        ),
      );
      await Promise.all(bodies);
    });
    expect(heldFor).toBe(40);
    expect(commands.filter((command) => command === 'ssubscribe').length).toBeLessThanOrEqual(2);
  });

  it('keys of different slots are taken together under one fence, or given back', async () => {
    const [one, two] = [client(), client()];
    const keys = Array.from({ length: 6 }, (_, index) => `cluster:many:${index}`);
    const held = await one.acquire(keys[3] ?? '');
    expect(await two.tryAcquire(keys)).toBeNull();
    await held.release();
    const all = await two.acquire(keys);
    const fences = await Promise.all(keys.map(async (key) => (await two.inspect(key)).fence));
    for (const fence of fences) expect(fence).toBeGreaterThanOrEqual(all.fence);
    await all.release();
    const next = await one.acquire(keys[0] ?? '');
    expect(next.fence).toBeGreaterThan(all.fence);
    await next.release();
  });

  it('goes on when the owner of the slot dies', async () => {
    const [one, two] = [client(), client()];
    const name = 'lock:{cluster:failover}';
    await one.withLock('cluster:failover', async () => undefined);
    const waiterHeard = two.acquire('cluster:failover', { waitMs: 20_000 });
    await (await waiterHeard).release();
    const owner = await servers.ownerOf(name);
    await owner.stop();
    const startedAt = performance.now();
    for (;;) {
      try {
        await two.withLock('cluster:failover', async () => undefined);
        break;
      } catch (error) {
        if (!(error instanceof LockBackendError)) throw error;
      }
    }
    console.info(`first good acquire ${Math.round(performance.now() - startedAt)} ms after the kill`);
    // The wake-ups have moved with the slot: a wait longer than its recheck would be.
    const held = await one.acquire('cluster:failover');
    const next = two.acquire('cluster:failover', { recheckMs: 60_000, waitMs: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await held.release();
    expect(await (await next).release()).toBe('released');
  });
});
