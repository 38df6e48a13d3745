import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { quiet, serverBaseline } from '../lock/support/baseline.js';
import { judge } from '../lock/support/journal.js';
import { redisServerMissing, startRedisServer, type RedisServer } from '../lock/support/redis-server.js';
import { sleep, until } from '../lock/support/waiting.js';
import { Workers } from '../lock/support/workers.js';

const options = { ttlMs: 20_000, recheckMs: 400, waitMs: 15_000 };

describe.skipIf(redisServerMissing)('subscriber connections that are killed every 50 ms', () => {
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

  it('cost a waiter at most one recheck, and nothing grows', async () => {
    const all = await workers.startAll(2, { port: server.port, locks: { handOver: { count: 1 } } });
    await until('both listen', async () => (await serverBaseline(server.port)).subscribers === 2);
    const before = await Promise.all(all.map((worker) => worker.ask('baseline')));
    const connections = (await serverBaseline(server.port)).connections;
    const redis = new Redis(server.port);
    let killed = 0;
    let striking = true;
    const strikes = (async () => {
      while (striking) {
        killed += Number(await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub'));
        await sleep(50);
      }
    })();
    // A hold that outlasts a few strikes, so that releases fall into the gaps.
    await Promise.all(
      all.map((worker) => worker.ask('startWork', { keys: ['deaf'], lanes: 10, grants: 20, holdMs: 30, options })),
    );
    const reports = await Promise.all(all.map((worker) => worker.ask('finishWork')));
    striking = false;
    await strikes;
    expect(killed, 'not exercised: no subscriber was killed').toBeGreaterThan(10);
    const entries = reports.flatMap((report) => report.entries);
    const { grants, overlaps, inversions } = judge(entries);
    expect({ grants, overlaps, inversions }).toEqual({ grants: 40, overlaps: [], inversions: [] });
    const turns = entries.toSorted((one, other) => one.grantedAt - other.grantedAt);
    const gaps = turns.slice(1).map((entry, index) => entry.grantedAt - turns[index]!.heldUntil);
    expect(Math.max(...gaps)).toBeLessThan(options.recheckMs + 300);
    redis.disconnect();
    await until('both listen again', async () => (await serverBaseline(server.port)).connections === connections);
    const after = await Promise.all(all.map((worker) => worker.ask('baseline')));
    expect(
      after.map(({ listeners, sockets, holds, waiters, tidying }) => ({ listeners, sockets, holds, waiters, tidying })),
    ).toEqual(
      before.map(({ listeners, sockets, holds, waiters, tidying }) => ({
        listeners,
        sockets,
        holds,
        waiters,
        tidying,
      })),
    );
  });
});
