import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { quiet, serverBaseline } from './support/baseline.js';
import { judge } from './support/journal.js';
import { commandsDuring, redisServerMissing, startRedisServer, type RedisServer } from './support/redis-server.js';
import { until } from './support/waiting.js';
import type { WorkReport } from './support/worker-verbs.js';
import { Workers } from './support/workers.js';

/** Nothing but the release may end a wait: a recheck or a renewal would be a command more. */
const options = { ttlMs: 120_000, recheckMs: 120_000, waitMs: 120_000 };

describe.skipIf(redisServerMissing)('the budgets, with real processes', () => {
  let server: RedisServer;
  const workers = new Workers();

  beforeAll(async () => {
    server = await startRedisServer();
  });

  afterEach(async () => {
    await workers.rest();
    await quiet(server.port);
  });

  afterAll(async () => {
    await workers.stop();
    await server.stop();
  });

  /** Every process begins with all its waiters at once, and each of them takes one turn. */
  const burst = async (processes: number, waiters: number, handOver: number, strategy: 'pubsub' | 'queue') => {
    const all = await workers.startAll(processes, {
      port: server.port,
      locks: { handOver: { count: handOver, ms: 60_000 }, defaults: { strategy } },
    });
    await until('all listen', async () => (await serverBaseline(server.port)).subscribers === processes);
    const lanes = Math.ceil(waiters / processes);
    const order = { keys: ['burst'], lanes, grants: lanes, options };
    const reports: WorkReport[] = [];
    // A first turn makes the scripts known: loading them is not the hand-over's.
    for (const worker of all) {
      const { lease } = await worker.ask('acquire', { key: `known:${worker.pid}`, options });
      await worker.ask('release', { lease });
    }
    const commands = await commandsDuring(server, async () => {
      await Promise.all(all.map((worker) => worker.ask('startWork', order)));
      reports.push(...(await Promise.all(all.map((worker) => worker.ask('finishWork')))));
    });
    const entries = reports.flatMap((report) => report.entries);
    const { overlaps, inversions } = judge(entries);
    expect({ overlaps, inversions }).toEqual({ overlaps: [], inversions: [] });
    expect(entries).toHaveLength(lanes * processes);
    expect(commands.filter((command) => command.includes('subscribe'))).toEqual([]);
    const connected = async () => (await serverBaseline(server.port)).connections;
    await until('two connections are left for each process', async () => (await connected()) === 2 * processes, 2000);
    return commands.length / entries.length;
  };

  it.each([
    { waiters: 1, processes: 1 },
    { waiters: 50, processes: 1 },
    { waiters: 50, processes: 2 },
    { waiters: 50, processes: 4 },
    { waiters: 1000, processes: 1 },
    { waiters: 1000, processes: 2 },
    { waiters: 1000, processes: 4 },
  ])(
    'pubsub: at most 2 + (P-1) commands a hand-over, below 0.2 inside a process: $waiters in $processes',
    async ({ waiters, processes }) => {
      const across = await burst(processes, waiters, 1, 'pubsub');
      // The first look of each process comes before any hand-over.
      expect(across).toBeLessThanOrEqual(2 + (processes - 1) + processes / waiters);
      await workers.rest();
      const inside = await burst(processes, waiters, 64, 'pubsub');
      console.log(
        `pubsub, ${waiters} waiters in ${processes}: ${across.toFixed(2)} commands each, handed over inside ${inside.toFixed(2)}`,
      );
      // One grant serves 64: few waiters cannot fill it. One waiter is not handed over to.
      expect(inside).toBeLessThanOrEqual(waiters === 1 ? 2 : 3 / 64 + (3 * processes) / waiters + 0.02);
    },
  );

  it.each([
    { waiters: 50, processes: 2 },
    { waiters: 1000, processes: 4 },
  ])(
    'queue: lines up, claims, releases, and at most one look more: $waiters in $processes',
    async ({ waiters, processes }) => {
      const each = await burst(processes, waiters, 1, 'queue');
      console.log(`queue, ${waiters} waiters in ${processes}: ${each.toFixed(2)} commands each`);
      // A release that finds the line empty calls everybody: whoever is on the way into it at that moment looks once more.
      expect(each).toBeLessThanOrEqual(4);
    },
  );
});
