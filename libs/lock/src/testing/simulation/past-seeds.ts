import type { SimulateOptions } from './simulate.js';

/**
 * Seeds that once broke a law, with what was wrong. A seed means the schedule of the plan as it is now: where the plan
 * has changed since, it is one more schedule, and the unit test named beside the mistake is what keeps it away.
 */
export const pastSeeds: readonly { seed: number; was: string; options?: SimulateOptions }[] = [
  {
    seed: 24,
    was: 'memory told of a release before the releaser lined up again: it waited out recheckMs',
    options: { weather: 'calm', stores: ['memory'] },
  },
  { seed: 517, was: 'tryAcquire was busy behind a look that everybody had given up' },
  { seed: 1147, was: 'tryAcquire was busy where Redis was away and nobody waited' },
  {
    seed: 167,
    was: 'whoever took over looking out for a queue began its recheckMs anew',
    options: { weather: 'calm' },
  },
  { seed: 126, was: 'the line of a killed process stood in Redis for ever' },
  { seed: 5688, was: 'a release that found the lock gone left the waiters asleep', options: { weather: 'calm' } },
  {
    seed: 9858,
    was: 'taking two keys in memory could forget one of them: two leases',
    options: { weather: 'calm', stores: ['memory'] },
  },
];
