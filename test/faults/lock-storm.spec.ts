import { describe, expect, it } from 'vitest';
import { redisServerMissing } from '../lock/support/redis-server.js';
import { storm } from '../lock/support/storm.js';

// `npm run faults` does the same for minutes.
describe.skipIf(redisServerMissing)('a storm of faults', () => {
  it('lets no two hold at once, loses no update and leaves no key', async () => {
    const seed = Date.now() % 1_000_000;
    const report = await storm(10_000, seed);
    const { overlaps, inversions, lostUpdates, keysLeft, harmed, grants, longestMs } = report;
    console.log(`storm, seed ${seed}:`, JSON.stringify(report));
    expect({ overlaps, inversions, lostUpdates, keysLeft }, `seed ${seed}`).toEqual({
      overlaps: 0,
      inversions: 0,
      lostUpdates: 0,
      keysLeft: [],
    });
    expect(grants).toBeGreaterThan(100);
    expect(Object.keys(report.strikes).length, 'not exercised').toBeGreaterThan(3);
    expect(harmed + Object.keys(report.refusals).length, 'not exercised: nobody was harmed').toBeGreaterThan(0);
    // A wait of 2.5 s, a call of 0.7 s, and at worst two stops of its own process.
    expect(longestMs).toBeLessThan(8000);
  });
});
