import { onceForEach, uuidv7 } from '@firstcome/http';
import type { Answer } from '@firstcome/http';
import { StaleFenceError } from '@firstcome/lock';
import type { Lease } from '@firstcome/lock';
import { Database, isCheckViolation, isUniqueViolation } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { couponErrors } from '../coupon.errors.js';
import { IssueRepository } from './issue.repository.js';
import type { JudgedRow, LockedCoupon } from './issue.repository.js';
import { CriticalSection, isTrip } from './critical-section.js';
import { safetyNetTrips } from './metrics.js';
import { created, refusal } from './refusal.js';
import type { Grab } from './strategy.js';

const strategy = 'batched';

type Outcome = Answer | Error;

/** The critical section for many requests of one coupon at once: a few statements, whatever their number. */
@Injectable()
export class BatchSection {
  constructor(
    private readonly database: Database,
    private readonly coupons: IssueRepository,
    private readonly section: CriticalSection,
  ) {}

  /**
   * One outcome for each, in order of arrival. What it throws was rolled back or is unknown, for all of them alike: after
   * a connection that broke in COMMIT nobody is told that it failed.
   */
  async issueMany(grabs: Grab[], lease: Lease): Promise<Outcome[]> {
    const [only] = grabs;
    if (grabs.length === 1) return [await this.section.issue(only!, { strategy, lease })];
    try {
      return await this.inOneTransaction(grabs, lease);
    } catch (error) {
      if (isTrip(error)) safetyNetTrips.inc({ strategy });
      if (!isUniqueViolation(error) && !isCheckViolation(error)) throw error;
      return this.oneByOne(grabs, lease);
    }
  }

  private inOneTransaction(grabs: Grab[], lease: Lease): Promise<Outcome[]> {
    const requests = grabs.map(({ request }) => request);
    return this.database.transaction(
      (tx) => {
        const decide = (open: number[]) =>
          this.decide(
            tx,
            open.map((place) => grabs[place]!),
            lease,
          );
        return onceForEach(tx, requests, decide);
      },
      { beforeCommit: () => lease.assertHeld() },
    );
  }

  private async decide(tx: Transaction, grabs: Grab[], lease: Lease): Promise<Outcome[]> {
    const couponId = grabs[0]!.couponId;
    const users = grabs.map(({ userId }) => userId);
    const coupon = await this.coupons.lockForBatch(tx, couponId);
    if (!coupon) return grabs.map(() => couponErrors.COUPON_NOT_FOUND());
    // Where the row is locked, and so for good: a fence that is only compared by the write would come after the reads.
    if (lease.fence < coupon.fence) throw new StaleFenceError(lease.fence, coupon.fence, { key: lease.key });
    if (coupon.status !== 'ISSUABLE') {
      const reasons = await this.coupons.standingOfMany(tx, couponId, users);
      return reasons.map((standing) => refusal(standing)!);
    }
    const ids = grabs.map(() => uuidv7());
    return outcomesOf(await this.coupons.issueMany(tx, couponId, users, ids, lease.fence), users, coupon);
  }

  /** One of them is refused by the database: each for itself, so that it takes nobody with it. */
  private async oneByOne(grabs: Grab[], lease: Lease): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const grab of grabs) {
      outcomes.push(await this.section.issue(grab, { strategy, lease }).catch((error: Error) => error));
    }
    return outcomes;
  }
}

/** A coupon, or what stood in the way at this place in the order: what the user got in this very batch counts. */
function outcomesOf(rows: JudgedRow[], users: string[], { perUserLimit }: LockedCoupon): Outcome[] {
  const given = new Map<string, { count: number; last: string }>();
  return rows.map((row, place) => {
    const user = users[place]!;
    const now = given.get(user);
    if (row.id !== null) {
      given.set(user, { count: (now?.count ?? 0) + 1, last: row.id });
      return created(row);
    }
    const held = row.held + (now?.count ?? 0);
    return refusal({ status: 'SOLD_OUT', perUserLimit, held, userCouponId: now?.last ?? row.lastId })!;
  });
}
