import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { quiet } from './support/baseline.js';
import { queueInOrder, raceBetweenProcesses, raceReleaseAgainstWait } from './support/races.js';
import { redisServerMissing, startRedisServer, type RedisServer } from './support/redis-server.js';
import { Workers } from './support/workers.js';

// `npm run races` does the same 20 000 times.
describe.skipIf(redisServerMissing)('races', () => {
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

  it.each(['pubsub', 'queue'] as const)(
    'of a release against a wait under %s end in a grant, without a recheck and without an overlap',
    async (strategy) => {
      const seed = Date.now() % 1_000_000;
      const report = await raceReleaseAgainstWait(server.port, strategy, 1000, seed);
      expect(report.woken, `not exercised (seed ${seed})`).toBeGreaterThan(100);
      expect({ ...report, woken: 0 }, `seed ${seed}`).toEqual({ races: 1000, overlaps: 0, lostWakeUps: 0, woken: 0 });
    },
  );

  it.each(['pubsub', 'queue'] as const)(
    'of a release against a wait of another process under %s do the same',
    async (strategy) => {
      const seed = Date.now() % 1_000_000;
      const processes = await workers.startAll(3, { port: server.port });
      const report = await raceBetweenProcesses(processes, strategy, 1500, seed);
      expect(report.woken, `not exercised (seed ${seed})`).toBeGreaterThan(100);
      expect({ ...report, woken: 0 }, `seed ${seed}`).toEqual({ races: 1500, overlaps: 0, lostWakeUps: 0, woken: 0 });
    },
  );

  it('where nobody is excluded are seen to overlap', async () => {
    const processes = await workers.startAll(2, { port: server.port, excludesNobody: true });
    const { overlaps } = await raceBetweenProcesses(processes, 'spin', 1000, 1);
    expect(overlaps).toBeGreaterThan(0);
  });

  it('of 60 callers in 3 processes under queue are decided by who reached the server first', async () => {
    const processes = await workers.startAll(3, { port: server.port });
    const { grants, inversions, overlaps, linedUp } = await queueInOrder(server.port, processes, 1500, 60);
    expect({ grants, inversions, overlaps }).toEqual({ grants: 1500, inversions: 0, overlaps: 0 });
    expect(linedUp, 'not exercised').toBeGreaterThan(1000);
  });
});
