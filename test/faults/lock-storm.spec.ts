import { afterAll, describe, expect, it } from 'vitest';
import { redisServerMissing } from '../lock/support/redis-server.js';
import { storm } from '../lock/support/storm.js';
import { Workers } from '../lock/support/workers.js';

// `npm run faults` does the same for minutes.
describe.skipIf(redisServerMissing)('a storm of faults', () => {
  const workers = new Workers();
  afterAll(() => workers.stop());

  it('is seen to break a lock that is none: the control', async () => {
    const { overlaps, lostUpdates, harmed } = await storm({ workers, rounds: 1, seed: 1, excludesNobody: true });
    expect(overlaps).toBeGreaterThan(10);
    // Its fences are of one process each: the guard cannot know whose is older.
    expect(harmed + lostUpdates).toBeGreaterThan(0);
  });

  it.each(['pubsub', 'queue'] as const)(
    'under %s lets no two hold at once, loses no update and leaves no key',
    async (strategy) => {
      const seed = Date.now() % 1_000_000;
      const report = await storm({ workers, rounds: 1, seed, strategy });
      const { overlaps, inversions, lostUpdates, keysLeft, grants, longestMs, bites } = report;
      console.log(`${strategy}, seed ${seed}:`, JSON.stringify(report));
      expect({ overlaps, inversions, lostUpdates, keysLeft }, `seed ${seed}`).toEqual({
        overlaps: 0,
        inversions: 0,
        lostUpdates: 0,
        keysLeft: [],
      });
      expect(grants).toBeGreaterThan(100);
      expect(Math.min(bites.held, bites.repliesDropped, bites.cut), 'not exercised').toBeGreaterThan(0);
      // A wait of 2.5 s, a call of 0.7 s, and at worst two stops of its own process.
      expect(longestMs).toBeLessThan(8000);
    },
  );
});
