import { timing } from '@firstcome/http';
import type { Answer } from '@firstcome/http';
import type { Lease } from '@firstcome/lock';
import { LockService } from '@firstcome/lock/nest';
import { Injectable } from '@nestjs/common';
import { CriticalSection } from './critical-section.js';
import type { Grab, IssueStrategy } from './strategy.js';

/** One grab of a coupon at a time, over all instances: who waits is woken by the release, and holds no connection meanwhile. */
@Injectable()
export class PubsubIssue implements IssueStrategy {
  constructor(
    private readonly locks: LockService,
    private readonly section: CriticalSection,
  ) {}

  async issue(grab: Grab): Promise<Answer> {
    const waited = timing.start('lock');
    const inTurn = async (lease: Lease): Promise<Answer> => {
      waited();
      const answer = await timing.measure('hold', () => this.section.issue(grab, lease));
      // Committed under a fence that the row accepted: losing the lock from here on changes nothing about the answer.
      lease.settled();
      return answer;
    };
    try {
      return await this.locks.withLock(`coupon:issue:${grab.couponId}`, inTurn, { strategy: 'pubsub' });
    } finally {
      waited();
    }
  }
}
