import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { quiet, serverBaseline } from './support/baseline.js';
import { judge } from './support/journal.js';
import { queueBill } from './support/queue-bill.js';
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
  const burst = async <Bill>(
    processes: number,
    waiters: number,
    handOver: number,
    strategy: 'pubsub' | 'queue',
    measure: (work: () => Promise<void>) => Promise<Bill>,
  ) => {
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
    const bill = await measure(async () => {
      await Promise.all(all.map((worker) => worker.ask('startWork', order)));
      reports.push(...(await Promise.all(all.map((worker) => worker.ask('finishWork')))));
    });
    const entries = reports.flatMap((report) => report.entries);
    const { overlaps, inversions } = judge(entries);
    expect({ overlaps, inversions }).toEqual({ overlaps: [], inversions: [] });
    expect(entries).toHaveLength(lanes * processes);
    const connected = async () => (await serverBaseline(server.port)).connections;
    await until('two connections are left for each process', async () => (await connected()) === 2 * processes, 2000);
    return { bill, grants: entries.length };
  };

  const commandsEach = async (processes: number, waiters: number, handOver: number) => {
    const { bill, grants } = await burst(processes, waiters, handOver, 'pubsub', (work) =>
      commandsDuring(server, work),
    );
    expect(bill.filter((command) => command.includes('subscribe'))).toEqual([]);
    return bill.length / grants;
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
      const across = await commandsEach(processes, waiters, 1);
      // The first look of each process comes before any hand-over.
      expect(across).toBeLessThanOrEqual(2 + (processes - 1) + processes / waiters);
      await workers.rest();
      const inside = await commandsEach(processes, waiters, 64);
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
    'queue: lines up once, claims, releases, and looks again only by time or when called: $waiters in $processes',
    async ({ waiters, processes }) => {
      const { bill, grants } = await burst(processes, waiters, 1, 'queue', (work) => queueBill(server, 'burst', work));
      const { entered, granted, released, calledAll, looked, enteredAgain, droppedUnclaimed, ms } = bill;
      console.log(
        `queue, ${waiters} waiters in ${processes}: ${entered} lined up, ${granted} claims, ${released} releases, of which ` +
          `${calledAll} called everybody; ${looked} looks more, ${enteredAgain} lined up again`,
      );
      expect(bill.others).toEqual([]);
      expect({ granted, released }).toEqual({ granted: grants, released: grants });
      expect(entered).toBeLessThanOrEqual(grants);
      // The first of a process looks when the time is over that it saw: it may have been the second for claiming a hand-over. A
      // release that finds the line empty calls everybody (the last one does), and a process that has not claimed in time is
      // taken for dead: its waiters look whether they are still in the line.
      const byTime = processes * Math.ceil(ms / 1000);
      expect(looked).toBeLessThanOrEqual(byTime + (calledAll - 1 + droppedUnclaimed) * waiters);
      expect(enteredAgain).toBeLessThanOrEqual(droppedUnclaimed);
    },
  );
});
