import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LockBackendError } from '@firstcome/lock';
import { connect, type Connected } from '../lock/support/connection.js';
import { judge } from '../lock/support/journal.js';
import { Ledger } from '../lock/support/ledger.js';
import { Proxy } from '../lock/support/proxy.js';
import { redisServerMissing, startRedisServer, type RedisServer } from '../lock/support/redis-server.js';
import { now, sleep, until } from '../lock/support/waiting.js';
import { Workers } from '../lock/support/workers.js';

const maxTtlMs = 2500;
const callTimeoutMs = 300;

describe.skipIf(redisServerMissing)('of five independent servers', () => {
  let nodes: RedisServer[];
  let resource: RedisServer;
  const opened: Connected[] = [];
  const workers = new Workers();

  beforeEach(async () => {
    nodes = await Promise.all(Array.from({ length: 5 }, () => startRedisServer()));
    resource = await startRedisServer();
  });

  afterEach(async () => {
    try {
      await workers.rest();
      await Promise.all(opened.splice(0).map((each) => each.close()));
    } finally {
      // Also after a test that failed: a server outlives the process that started it.
      await Promise.all([...nodes, resource].map((node) => node.stop()));
    }
  });

  afterAll(() => workers.stop());

  const open = async (ports = nodes.map(({ port }) => port)) => {
    const connected = connect({ redlock: { ports, maxTtlMs }, callTimeoutMs, locks: { defaults: { ttlMs: 2000 } } });
    opened.push(connected);
    await connected.locks.withLock('warm-up', async () => undefined);
    return connected.locks;
  };

  const heldOn = async (node: RedisServer, key: string) => {
    const redis = new Redis(node.port);
    const held = await redis.exists(`lock:${key}`);
    redis.disconnect();
    return held === 1;
  };

  it('one and two that are down cost nothing but time', async () => {
    const [one, other] = [await open(), await open()];
    for (const down of [1, 2]) {
      await nodes[down - 1]!.stop();
      const startedAt = now();
      const lease = await one.acquire('some');
      expect(now() - startedAt).toBeLessThan(callTimeoutMs * 4 + 500);
      expect(await other.tryAcquire('some')).toBeNull();
      const waiting = other.acquire('some', { recheckMs: 300 });
      // Renewed by the majority that is left.
      await sleep(2500);
      lease.assertHeld();
      expect(await lease.release()).toBe('released');
      await (await waiting).release();
    }
  });

  it('three that are down are no majority: broken, not busy, and everything is given back', async () => {
    const locks = await open();
    await Promise.all(nodes.slice(2).map((node) => node.stop()));
    const startedAt = now();
    await expect(locks.acquire('none', { waitMs: 2000 })).rejects.toBeInstanceOf(LockBackendError);
    expect(now() - startedAt).toBeLessThan(2000 + callTimeoutMs + 500);
    await until('the two that are up have nothing left', async () => {
      const held = await Promise.all(nodes.slice(0, 2).map((node) => heldOn(node, 'none')));
      return !held.includes(true);
    });
    await expect(locks.tryAcquire('none')).rejects.toBeInstanceOf(LockBackendError);
  });

  it('one that is wiped while it holds a vote helps nobody to a second majority, until no lease can be that old', async () => {
    const proxies = await Promise.all(nodes.map(({ port }) => Proxy.start(port)));
    const one = await open(proxies.map(({ port }) => port));
    const other = await open();
    await sleep(1100);
    proxies[3]!.refuse();
    proxies[4]!.refuse();
    const lease = await one.acquire('wiped');
    const votes = await Promise.all(nodes.map((node) => heldOn(node, 'wiped')));
    expect(votes, 'not exercised: the holder has more than a bare majority').toEqual([true, true, true, false, false]);
    const { port } = nodes[2]!;
    await nodes[2]!.stop();
    nodes[2] = await startRedisServer([], port);
    const wipedAt = now();
    // The control: three servers would say yes to a second holder.
    const said = await Promise.all(nodes.map((node) => heldOn(node, 'wiped')));
    expect(said.filter((held) => !held)).toHaveLength(3);
    while (now() - wipedAt < 1500) expect(await other.tryAcquire('wiped')).toBeNull();
    lease.assertHeld();
    proxies[3]!.heal();
    proxies[4]!.heal();
    expect(await lease.release()).not.toBe('unknown');
    await other.withLock('wiped', async () => undefined, { waitMs: 8000 });
    await sleep(Math.max(0, wipedAt + maxTtlMs + 200 - now()));
    // Now it counts again: without two others there is still a majority.
    await Promise.all([nodes[0]!.stop(), nodes[1]!.stop()]);
    await other.withLock('wiped', async () => undefined, { waitMs: 8000 });
    await Promise.all(proxies.map((proxy) => proxy.close()));
  });

  it('two killed, a third killed and started again: three processes go on, and no two hold at once', async () => {
    const ledger = new Ledger(resource.port);
    const ports = nodes.map(({ port }) => port);
    const all = await workers.startAll(3, { redlock: { ports, maxTtlMs }, callTimeoutMs });
    const options = { ttlMs: 1000, recheckMs: 200, waitMs: 3000 };
    const order = { keys: ['quorum'], lanes: 2, holdMs: 5, ledgerPort: resource.port, options };
    await Promise.all(all.map((worker) => worker.ask('startWork', order)));
    await sleep(500);
    await Promise.all([nodes[3]!.stop(), nodes[4]!.stop()]);
    await sleep(800);
    await nodes[1]!.stop();
    const goneAt = now();
    await sleep(2500);
    nodes[1] = await startRedisServer([], ports[1]);
    const backAt = now();
    await sleep(maxTtlMs + 4000);
    // Healed altogether: clients stop waiting for those that were away.
    nodes[3] = await startRedisServer([], ports[3]);
    nodes[4] = await startRedisServer([], ports[4]);
    const reports = await Promise.all(all.map((worker) => worker.ask('stopWork')));
    const entries = reports.flatMap((report) => report.entries);
    // What was granted before may still be handed on in its process, for 250 ms at most; then there is nothing left to give.
    const between = entries.map(({ grantedAt }) => grantedAt - goneAt).filter((at) => at > 500 && at < backAt - goneAt);
    expect(between).toEqual([]);
    const refusals = reports.reduce((sum, report) => sum + (report.refusals['LOCK_BACKEND_UNAVAILABLE'] ?? 0), 0);
    expect(refusals, 'not exercised: nobody missed the majority').toBeGreaterThan(0);
    const after = entries.filter(({ grantedAt }) => grantedAt > backAt);
    expect(after.length).toBeGreaterThan(5);
    const { overlaps, inversions } = judge(entries);
    expect({ overlaps, inversions }).toEqual({ overlaps: [], inversions: [] });
    expect((await ledger.audit('quorum')).lost).toBe(0);
    ledger.close();
  });
});
