import { AsyncLocalStorage } from 'node:async_hooks';
import { ProblemError, timing } from '@firstcome/http';
import type { Answer } from '@firstcome/http';
import type { Lease } from '@firstcome/lock';
import { LockService } from '@firstcome/lock/nest';
import { Injectable } from '@nestjs/common';
import { couponErrors } from '../coupon.errors.js';
import { BatchSection } from './batch-section.js';
import { SoldOut } from './sold-out.js';
import type { Grab, IssueStrategy } from './strategy.js';
import { msLeft } from './strategy.js';
import { lockKey } from './under-lock.js';

interface Waiting {
  grab: Grab;
  /** The wait is over: from here it is held and in the database, until what is returned is called. */
  begin: () => () => void;
}

/** The lock of `pubsub`, taken once for all that wait in this process: one hold, one transaction, each its own answer. */
@Injectable()
export class BatchedIssue implements IssueStrategy {
  // A batch belongs to no single request: it runs outside of theirs.
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(
    private readonly locks: LockService,
    private readonly section: BatchSection,
    private readonly soldOut: SoldOut,
  ) {}

  async issue(grab: Grab): Promise<Answer> {
    const answered = await this.soldOut.answer(grab);
    if (answered) return answered;
    const waited = timing.start('lock');
    const [hold, db] = [timing.later('hold'), timing.later('db')];
    const begin = () => {
      waited();
      const [held, stored] = [hold(), db()];
      return () => {
        held();
        stored();
      };
    };
    try {
      const waiting: Waiting = { grab, begin };
      const options = { strategy: 'pubsub', waitMs: msLeft(grab) } as const;
      return await this.locks.batch(lockKey(grab.couponId), waiting, this.run, options);
    } catch (error) {
      if (error instanceof ProblemError && error.problem.code === couponErrors.COUPON_SOLD_OUT.code) {
        this.soldOut.note(grab.couponId);
      }
      throw error;
    } finally {
      waited();
    }
  }

  private readonly run = (batch: Waiting[], lease: Lease): Promise<(Answer | Error)[]> =>
    this.outside(async () => {
      const ends = batch.map(({ begin }) => begin());
      try {
        const answers = await this.section.issueMany(
          batch.map(({ grab }) => grab),
          lease,
        );
        // Committed under a fence that the row accepted: losing the lock from here on changes nothing about the answers.
        lease.settled();
        return answers;
      } finally {
        for (const end of ends) end();
      }
    });
}
