import { chained, extended, forced } from '../planted/bends.js';
import type { SimulateOptions } from './simulate.js';

export interface PastSeed {
  seed: number;
  was: string;
  options?: SimulateOptions;
  /**
   * The planted variant that makes the library's mistake again: under it the seed must break a law, or it no longer shows what it
   * is kept for. Absent: the mistake was the simulator's or the checker's, and a spec beside it keeps it away.
   */
  mistake?: string;
}

const calm = { weather: 'calm' } as const;
const redis = ['redis'] as const;

/**
 * Schedules that once broke a law, with what was wrong. A seed means the schedule of the plan as it is now: where the plan
 * had changed so that a seed showed nothing any more, another one that shows the same mistake stands here in its place.
 */
export const pastSeeds: readonly PastSeed[] = [
  {
    // Was 24.
    seed: 83,
    was: 'memory told of a release before the releaser lined up again: it waited out recheckMs',
    options: { ...calm, stores: ['memory'] },
    mistake: 'a release is sent before the next of the process listens for it',
  },
  {
    // Was 1147, too.
    seed: 517,
    was: 'tryAcquire was busy behind a look that everybody had given up',
    mistake: 'a single attempt is busy behind a look that everybody has given up',
  },
  {
    // Was 167.
    seed: 1,
    was: 'whoever took over looking out for a queue began its recheckMs anew',
    options: { stores: redis, strategies: ['queue'], adjust: chained },
    mistake: "whoever takes over looking out for a queue does not know when the holder's time runs out",
  },
  {
    seed: 126,
    was: 'the line of a killed process stood in Redis for ever',
    mistake: 'the line of a killed process stands for ever',
  },
  {
    // Was 5688.
    seed: 46,
    was: 'a release that found the lock gone left the waiters asleep',
    options: { ...calm, stores: redis, strategies: ['pubsub'], adjust: forced },
    mistake: 'a release that found the lock gone leaves the waiters asleep',
  },
  {
    seed: 9858,
    was: 'taking two keys in memory could forget one of them: two leases',
    options: { ...calm, stores: ['memory'] },
    mistake: 'taking several keys in memory forgets one of them while it makes the next',
  },
  {
    // Was 200931, too.
    seed: 201_735,
    was: 'a Redlock token was used again after its give-back: a late release took the votes of the new lock',
    mistake: 'a token whose votes were given back is used again, and a late release takes the new lock away',
  },
  ...[2059, 3141].map((seed) => ({
    seed,
    was: 'without a trusted majority everybody followed the news of the give-backs, at the speed of the wire',
    mistake: "who contends for a majority follows the news of everybody's give-backs",
  })),
  {
    seed: 4723,
    was: 'extend to less than was left was done, and its answer lost: the key ended, the holder believed in its old time',
    mistake: 'a renewal that is done late takes off time that was given since',
  },
  {
    seed: 228,
    was: 'an acquire that was done late cut short the lease that had been extended meanwhile',
    options: { stores: redis, adjust: extended },
    mistake: 'an acquire that is done late takes off time that was given since',
  },
  {
    seed: 4996,
    was: 'a forced release was sent again and took the lock from who had come since',
    mistake: 'a forced release takes the lock from whoever has it by then, not from whom the operator saw',
  },
  { seed: 1398, was: 'the checker did not allow a single attempt behind a failing look' },
  { seed: 3825, was: 'the simulator kept a subscription whose connection was closed while it was being ended' },
  { seed: 4406, was: 'the simulator counted a stop inside a longer one as negative time' },
];
