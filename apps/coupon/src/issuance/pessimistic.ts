import type { Answer } from '@firstcome/http';
import { Injectable } from '@nestjs/common';
import { IssueRepository } from './issue.repository.js';
import { CriticalSection } from './critical-section.js';
import type { Grab, IssueStrategy } from './strategy.js';
import { msLeft } from './strategy.js';

/** SELECT … FOR UPDATE first: everybody waits for the coupon's row, each with a connection in hand. */
@Injectable()
export class PessimisticIssue implements IssueStrategy {
  constructor(
    private readonly section: CriticalSection,
    private readonly coupons: IssueRepository,
  ) {}

  issue(grab: Grab): Promise<Answer> {
    return this.section.issue(grab, {
      strategy: 'pessimistic',
      enter: (tx) => this.coupons.lockRow(tx, grab.couponId, msLeft(grab)),
    });
  }
}
