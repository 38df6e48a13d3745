import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startCluster, type RedisCluster } from '../lock/support/cluster.js';
import type { Connection } from '../lock/support/connection.js';
import { judge, type Entry } from '../lock/support/journal.js';
import { Ledger } from '../lock/support/ledger.js';
import { redisServerMissing, startRedisServer, type RedisServer } from '../lock/support/redis-server.js';
import { startSentinelTrio, type SentinelTrio } from '../lock/support/sentinel.js';
import { lateWhileSleeping, now, shown } from '../lock/support/waiting.js';
import { furtherHolds, Workers } from '../lock/support/workers.js';

const options = { ttlMs: 1000, recheckMs: 300, waitMs: 3000 };
const key = 'failover';

describe.skipIf(redisServerMissing)('a primary that fails over', () => {
  let resource: RedisServer;
  let ledger: Ledger;
  const workers = new Workers();

  beforeAll(async () => {
    resource = await startRedisServer();
    ledger = new Ledger(resource.port);
  });

  afterEach(async () => {
    await workers.rest();
  });

  afterAll(async () => {
    await workers.stop();
    ledger.close();
    await resource.stop();
  });

  /** Two processes at work, the primary struck under them: how long until each is granted again, and what they did. */
  const workThrough = async (connection: Connection, strike: () => Promise<void>, boundMs: number, name: string) => {
    const all = await workers.startAll(2, connection);
    const order = { keys: [name], lanes: 3, holdMs: 2, ledgerPort: resource.port, options, probe: true };
    await Promise.all(all.map((worker) => worker.ask('startWork', order)));
    await furtherHolds(all, 10);
    const struckAt = now();
    await strike();
    const lateMs = await lateWhileSleeping(boundMs + 1000);
    const reports = await Promise.all(all.map((worker) => worker.ask('stopWork')));
    const entries = reports.flatMap((report) => report.entries);
    const backMs = reports.map(({ probes }) => gapEnd(probes, struckAt) - struckAt);
    // A lock that was held at the strike may have been replicated, and lasts for its TTL on the heir.
    const contendedMs = reports.map((report) => gapEnd(report.entries, struckAt) - struckAt);
    console.log(
      `${name}: granted again after ${shown(backMs)} ms, the contended key after ${shown(contendedMs)} ms, on a machine ${lateMs.toFixed(0)} ms late`,
    );
    return { backMs, lateMs, inversions: judge(entries).inversions, audit: await ledger.audit(name) };
  };

  describe('under Sentinel with down-after 1 s', () => {
    let trio: SentinelTrio;

    // For each test: Sentinel does not fail the same primary over twice in a short time.
    beforeEach(async () => {
      trio = await startSentinelTrio(1000);
    });

    afterEach(() => trio.stop());

    it.each([
      { strike: 'hangs', boundMs: 5000 },
      { strike: 'is killed', boundMs: 3000 },
    ])(
      'and $strike, is followed within $boundMs ms; fences rise and no update is lost',
      async ({ strike, boundMs }) => {
        const old = await trio.primary();
        const connection = { sentinels: trio.sentinels, callTimeoutMs: 1000 };
        const { backMs, lateMs, inversions, audit } = await workThrough(
          connection,
          async () => (strike === 'hangs' ? old.hang() : void old.process.kill('SIGKILL')),
          boundMs,
          `${key}, ${strike}`,
        );
        expect(await trio.failovers(), 'not exercised: nothing failed over').toBe(1);
        expect(Math.max(...backMs)).toBeLessThan(boundMs + lateMs);
        expect(inversions).toEqual([]);
        expect(audit.lost).toBe(0);
        expect(audit.value).toBeGreaterThan(10);
      },
    );
  });

  describe('on a Cluster with node-timeout 2 s', () => {
    let cluster: RedisCluster;

    beforeAll(async () => {
      cluster = await startCluster(2000);
    });

    afterAll(() => cluster.stop());

    it('and owned the slot, is followed within 5 s; fences rise and no update is lost', async () => {
      const owner = await cluster.ownerOf(`lock:{${key}:slot}`);
      const connection = { cluster: cluster.ports, callTimeoutMs: 1000 };
      const { backMs, lateMs, inversions, audit } = await workThrough(
        connection,
        async () => void owner.process.kill('SIGKILL'),
        5000,
        `${key}:slot`,
      );
      const heir = await cluster.ownerOf(`lock:{${key}:slot}`);
      expect(heir.port, 'not exercised: nothing failed over').not.toBe(owner.port);
      expect(Math.max(...backMs)).toBeLessThan(5000 + lateMs);
      expect(inversions).toEqual([]);
      expect(audit.lost).toBe(0);
      expect(audit.value).toBeGreaterThan(10);
    });
  });
});

/** When the longest time without a grant after the strike was over: the first moments were still answered by the old primary. */
function gapEnd(entries: readonly Entry[], struckAt: number): number {
  const after = entries.map(({ grantedAt }) => grantedAt).filter((at) => at > struckAt);
  let end = Infinity;
  let longest = -1;
  for (const [index, at] of after.toSorted((one, two) => one - two).entries()) {
    const since = after[index - 1] ?? struckAt;
    if (at - since <= longest) continue;
    longest = at - since;
    end = at;
  }
  return end;
}
