import { setImmediate as otherWork } from 'node:timers/promises';
import { timing } from '@firstcome/http';
import type { Answer } from '@firstcome/http';
import type { Lease, Locks, StrategyName } from '@firstcome/lock';
import type { CriticalSection } from './critical-section.js';
import type { Grab } from './strategy.js';
import { msLeft } from './strategy.js';

/** What the strategies with a Redis lock share: wait without a connection, one transaction, commit before release. */
export async function underLock(
  locks: Locks,
  section: CriticalSection,
  grab: Grab,
  { strategy, waiting }: { strategy: string; waiting: StrategyName },
): Promise<Answer> {
  const waited = timing.start('lock');
  const inTurn = async (lease: Lease): Promise<Answer> => {
    waited();
    const answer = await timing.measure('hold', () => section.issue(grab, { strategy, lease }));
    // Committed under a fence that the row accepted: losing the lock from here on changes nothing about the answer.
    lease.settled();
    return answer;
  };
  try {
    return await locks.withLock(lockKey(grab.couponId), inTurn, { strategy: waiting, waitMs: msLeft(grab) });
  } finally {
    waited();
    // The next in line has the lease by now. Its statement goes out before this answer is written: PostgreSQL works meanwhile.
    await otherWork();
  }
}

/** One name for all strategies, so that those on the same store exclude each other. */
export const lockKey = (couponId: number): string => `coupon:issue:${couponId}`;
