import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quiet } from './support/baseline.js';
import { queueInOrder, raceReleaseAgainstWait } from './support/races.js';
import { redisServerMissing, startRedisServer, type RedisServer } from './support/redis-server.js';

// `npm run races` does the same 20 000 times.
describe.skipIf(redisServerMissing)('races', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedisServer();
  });

  afterAll(() => server.stop());

  it.each(['pubsub', 'queue'] as const)(
    'of a release against a wait under %s end in a grant, without a recheck and without an overlap',
    async (strategy) => {
      const seed = Date.now() % 1_000_000;
      const report = await raceReleaseAgainstWait(server.port, strategy, 1000, seed);
      expect(report.woken, `not exercised (seed ${seed})`).toBeGreaterThan(100);
      expect({ ...report, woken: 0 }, `seed ${seed}`).toEqual({ races: 1000, overlaps: 0, lostWakeUps: 0, woken: 0 });
      await quiet(server.port);
    },
  );

  it('of 60 callers under queue are decided by who reached the server first', async () => {
    const { grants, inversions, linedUp } = await queueInOrder(server.port, 1500, 60);
    expect({ grants, inversions }).toEqual({ grants: 1500, inversions: 0 });
    expect(linedUp, 'not exercised').toBeGreaterThan(1000);
    await quiet(server.port);
  });
});
