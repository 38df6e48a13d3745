import { idempotency, uuidv7 } from '@firstcome/http';
import type { Answer } from '@firstcome/http';
import { Database } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { LabCouponRepository } from '../lab-coupon.repository.js';
import { created, refusal } from './refusal.js';
import type { Grab, IssueStrategy } from './strategy.js';

/**
 * The negative control: read, decide, write what was decided. Two who read the same number both take the next one. On
 * tables of its own, with nothing to stop it, and only in the lab.
 */
@Injectable()
export class NoneIssue implements IssueStrategy {
  constructor(
    private readonly database: Database,
    private readonly coupons: LabCouponRepository,
  ) {}

  issue(grab: Grab): Promise<Answer> {
    return this.database.transaction((tx) => idempotency.once(tx, grab.request, () => this.readModifyWrite(tx, grab)));
  }

  private async readModifyWrite(tx: Transaction, { couponId, userId }: Grab): Promise<Answer> {
    const standing = await this.coupons.standing(tx, couponId, userId);
    const no = refusal(standing);
    if (no) throw no;
    const serial = standing!.issued + 1;
    const issued = await this.coupons.insert(tx, couponId, userId, uuidv7(), serial);
    await this.coupons.setIssued(tx, couponId, serial);
    return created(issued);
  }
}
