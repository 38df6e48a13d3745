import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { quiet, serverBaseline } from '../lock/support/baseline.js';
import { judge } from '../lock/support/journal.js';
import { Ledger } from '../lock/support/ledger.js';
import { redisServerMissing, startRedisServer, type RedisServer } from '../lock/support/redis-server.js';
import { lateWhileSleeping, now, shown, sleep } from '../lock/support/waiting.js';
import type { WorkReport } from '../lock/support/worker-verbs.js';
import { Workers } from '../lock/support/workers.js';

const options = { ttlMs: 1000, recheckMs: 300, waitMs: 3000 };
const callTimeoutMs = 1500;
/** The longest that any call may take: its wait, and the answer that was asked for at the end of it. */
const longestMs = options.waitMs + callTimeoutMs + 500;

describe.skipIf(redisServerMissing)('Redis that is away', () => {
  let server: RedisServer;
  let resource: RedisServer;
  let ledger: Ledger;
  const workers = new Workers();

  beforeAll(async () => {
    [server, resource] = await Promise.all([startRedisServer(), startRedisServer()]);
    ledger = new Ledger(resource.port);
  });

  afterEach(async () => {
    await workers.rest();
    await quiet(server.port);
  });

  afterAll(async () => {
    await workers.stop();
    ledger.close();
    await Promise.all([server.stop(), resource.stop()]);
  });

  const startWork = async (key: string, processes: number) => {
    const all = await workers.startAll(processes, { port: server.port, callTimeoutMs });
    const order = { keys: [key], lanes: 5, holdMs: 2, ledgerPort: resource.port, options, probe: true };
    await Promise.all(all.map((worker) => worker.ask('startWork', order)));
    await sleep(400);
    return all;
  };

  /** By calls for keys of their own: on the contended key a process also waits for the other one's turns. */
  const firstAfter = ({ probes }: WorkReport, at: number) =>
    Math.min(...probes.filter(({ grantedAt }) => grantedAt > at).map(({ grantedAt }) => grantedAt)) - at;

  it.each([
    // Ridden out by those who wait; what was under way may fail.
    { awayMs: 200, said: [] },
    { awayMs: 8000, said: ['LOCK_BACKEND_UNAVAILABLE'] },
  ])(
    'killed and started again $awayMs ms later, without its memory: granted again within a second, and nothing is lost',
    async ({ awayMs, said }) => {
      const key = `away:${awayMs}`;
      const all = await startWork(key, 2);
      const before = await serverBaseline(server.port);
      const { port } = server;
      await server.stop();
      await sleep(awayMs);
      server = await startRedisServer([], port);
      const backAt = now();
      const lateMs = await lateWhileSleeping(1500);
      const reports = await Promise.all(all.map((worker) => worker.ask('stopWork')));
      const entries = reports.flatMap((report) => report.entries);
      const firstMs = reports.map((report) => firstAfter(report, backAt));
      console.log(
        `away for ${awayMs} ms: granted again after ${shown(firstMs)} ms, on a machine ${lateMs.toFixed(0)} ms late`,
      );
      expect(Math.max(...firstMs)).toBeLessThan(1000 + lateMs);
      for (const { refusals } of reports) {
        expect(Object.keys(refusals)).toEqual(expect.arrayContaining(said));
        expect(Object.keys(refusals)).not.toContain('LOCK_BUSY');
      }
      for (const report of reports) expect(report.longestMs).toBeLessThan(longestMs);
      // A wiped server cannot keep two from holding; that fences go on rising it still owes, and that is what saves the counter.
      expect(judge(entries).inversions).toEqual([]);
      expect((await ledger.audit(key)).lost).toBe(0);
      const after = await serverBaseline(server.port);
      expect({ connections: after.connections, subscribers: after.subscribers }).toEqual({
        connections: before.connections,
        subscribers: before.subscribers,
      });
    },
  );

  it('killed and started again 500 ms later, with its memory: leases outlive it, and no two hold at once', async () => {
    const key = 'away:memory';
    const { port } = server;
    const dir = mkdtempSync(join(tmpdir(), 'firstcome-aof-'));
    const remembering = ['--appendonly', 'yes', '--appendfsync', 'always', '--dir', dir];
    await server.stop();
    server = await startRedisServer(remembering, port);
    const all = await startWork(key, 2);
    const holder = await workers.start({ port, callTimeoutMs });
    const held = await holder.ask('acquire', { key: 'away:held', options: { ...options, ttlMs: 3000 } });
    const before = await serverBaseline(port);
    await server.stop();
    await sleep(500);
    server = await startRedisServer(remembering, port);
    expect((await serverBaseline(port)).keys, 'not exercised: it has forgotten').toContain('lock:away:held');
    await sleep(2000);
    expect(await holder.ask('held', held)).toBe(true);
    expect(await holder.ask('release', held)).toBe('released');
    const reports = await Promise.all(all.map((worker) => worker.ask('stopWork')));
    const entries = reports.flatMap((report) => report.entries);
    const { overlaps, inversions } = judge(entries);
    expect({ overlaps, inversions }).toEqual({ overlaps: [], inversions: [] });
    expect((await ledger.audit(key)).lost).toBe(0);
    expect((await serverBaseline(port)).subscribers).toBe(before.subscribers);
    rmSync(dir, { recursive: true, force: true });
  });

  it('stopped for 3 s: no call hangs, leases end by the clock, and what was late is taken away', async () => {
    const key = 'hung';
    const all = await startWork(key, 2);
    const holder = await workers.start({ port: server.port, callTimeoutMs });
    const held = await holder.ask('acquire', { key: 'hung:held', options });
    // Tokens of a minute: what a late grant leaves behind would be seen long after this test.
    const late = holder.ask.bind(holder, 'acquire');
    server.hang();
    const hungAt = now();
    const asked = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) =>
        late({ key: `hung:${index}`, options: { ...options, ttlMs: 60_000, waitMs: 1000 } }),
      ),
    );
    const askedMs = now() - hungAt;
    for (const result of asked) expect(result.status).toBe('rejected');
    expect(askedMs).toBeLessThan(1000 + callTimeoutMs + 500);
    expect(await holder.ask('held', held)).toBe(false);
    await sleep(Math.max(0, hungAt + 3000 - now()));
    server.resume();
    const backAt = now();
    const lateMs = await lateWhileSleeping(1500);
    const reports = await Promise.all(all.map((worker) => worker.ask('stopWork')));
    const entries = reports.flatMap((report) => report.entries);
    const firstMs = reports.map((report) => firstAfter(report, backAt));
    console.log(`stopped: granted again after ${shown(firstMs)} ms, on a machine ${lateMs.toFixed(0)} ms late`);
    expect(Math.max(...firstMs)).toBeLessThan(1000 + lateMs);
    for (const report of reports) expect(report.longestMs).toBeLessThan(longestMs);
    const { overlaps, inversions } = judge(entries);
    expect({ overlaps, inversions }).toEqual({ overlaps: [], inversions: [] });
    expect((await ledger.audit(key)).lost).toBe(0);
    expect(await holder.ask('release', held)).toBe('lost');
  });
});
