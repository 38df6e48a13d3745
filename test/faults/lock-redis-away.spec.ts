import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { quiet, serverBaseline } from '../lock/support/baseline.js';
import { judge, type Entry } from '../lock/support/journal.js';
import { Ledger } from '../lock/support/ledger.js';
import { redisServerMissing, startRedisServer, type RedisServer } from '../lock/support/redis-server.js';
import { now, sleep } from '../lock/support/waiting.js';
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
    const order = { keys: [key], lanes: 5, holdMs: 2, ledgerPort: resource.port, options };
    await Promise.all(all.map((worker) => worker.ask('startWork', order)));
    await sleep(400);
    return all;
  };

  const firstAfter = (entries: Entry[], process: number, at: number) =>
    Math.min(
      ...entries.filter((entry) => entry.process === process && entry.grantedAt > at).map((entry) => entry.grantedAt),
    ) - at;

  it.each([200, 8000])(
    'killed and started again %i ms later, without its memory: granted again within a second, and nothing is lost',
    async (awayMs) => {
      const key = `away:${awayMs}`;
      const all = await startWork(key, 2);
      const before = await serverBaseline(server.port);
      const { port } = server;
      await server.stop();
      await sleep(awayMs);
      server = await startRedisServer([], port);
      const backAt = now();
      await sleep(1500);
      const reports = await Promise.all(all.map((worker) => worker.ask('stopWork')));
      const entries = reports.flatMap((report) => report.entries);
      for (const { pid } of all) expect(firstAfter(entries, pid, backAt)).toBeLessThan(1000);
      // A long outage is said, as what it is; a short one may be ridden out.
      const codes = reports.map(({ refusals }) => Object.keys(refusals));
      for (const seen of codes) expect(seen).not.toContain('LOCK_BUSY');
      if (awayMs > 3000) for (const seen of codes) expect(seen).toContain('LOCK_BACKEND_UNAVAILABLE');
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

  it('stopped for 3 s: no call hangs, leases end by the clock, and what was late is taken away', async () => {
    const key = 'hung';
    const [holder, ...all] = await Promise.all([
      workers.start({ port: server.port, callTimeoutMs }),
      ...(await startWork(key, 2)),
    ]);
    const held = await holder!.ask('acquire', { key: 'hung:held', options });
    // Tokens of a minute: what a late grant leaves behind would be seen long after this test.
    const late = holder!.ask.bind(holder!, 'acquire');
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
    expect(await holder!.ask('held', held)).toBe(false);
    await sleep(Math.max(0, hungAt + 3000 - now()));
    server.resume();
    const backAt = now();
    await sleep(1500);
    const reports = await Promise.all(all.map((worker) => worker!.ask('stopWork')));
    const entries = reports.flatMap((report) => report.entries);
    for (const worker of all) expect(firstAfter(entries, worker!.pid, backAt)).toBeLessThan(1000);
    for (const report of reports) expect(report.longestMs).toBeLessThan(longestMs);
    const { overlaps, inversions } = judge(entries);
    expect({ overlaps, inversions }).toEqual({ overlaps: [], inversions: [] });
    expect((await ledger.audit(key)).lost).toBe(0);
    expect(await holder!.ask('release', held)).toBe('lost');
  });
});
