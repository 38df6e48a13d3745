import { createHash } from 'node:crypto';
import type { Answer } from '@firstcome/http';
import { Injectable } from '@nestjs/common';
import { IssueRepository } from './issue.repository.js';
import { CriticalSection } from './critical-section.js';
import type { Grab, IssueStrategy } from './strategy.js';
import { msLeft } from './strategy.js';

/** A transaction's advisory lock on the coupon's name: a lock without a row, gone with the transaction however it ends. */
@Injectable()
export class AdvisoryIssue implements IssueStrategy {
  constructor(
    private readonly section: CriticalSection,
    private readonly coupons: IssueRepository,
  ) {}

  issue(grab: Grab): Promise<Answer> {
    return this.section.issue(grab, {
      strategy: 'advisory',
      enter: (tx) => this.coupons.lockNumber(tx, numberOf(`coupon:issue:${grab.couponId}`), msLeft(grab)),
    });
  }
}

/** All 64 bits: with the 32 of hashtext() one pair of 77 000 names would share a lock more likely than not. */
export function numberOf(name: string): bigint {
  return createHash('sha256').update(name).digest().readBigInt64BE();
}
