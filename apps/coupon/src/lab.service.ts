import { keyOfLockName } from '@firstcome/lock';
import { LockService } from '@firstcome/lock/nest';
import { checkInvariants, Database, sql } from '@firstcome/postgres';
import { REDIS, scanKeys } from '@firstcome/redis';
import { Inject, Injectable } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { couponErrors } from './coupon.errors.js';
import type { LabResetDto } from './coupon.dto.js';
import { CouponService } from './coupon.service.js';
import { lineOf } from './issue-ticket.service.js';
import { LabCouponRepository } from './lab-coupon.repository.js';
import { invariants } from './invariants.js';
import type { CouponView } from './coupon.view.js';
import type { InvariantReport, LockList, LockView } from './lab.view.js';

const lockCoupon = sql('lab-lock-coupon', 'select id from coupons where id = $1 for update');
const deleteUserCoupons = sql('lab-delete-user-coupons', 'delete from user_coupons where coupon_id = $1');
// Stored answers name user coupons that are gone now, and refusals that are no longer true.
const deleteAnswers = sql('lab-delete-answers', 'delete from idempotency_keys');
const deleteTickets = sql('lab-delete-tickets', 'delete from tickets where line = $1');
const emptyCoupon = sql(
  'lab-empty-coupon',
  `update coupons set issued = 0, total = $2, version = version + 1, paused = false, starts_at = null, ends_at = null where id = $1`,
);

/** What a load run needs between two blocks. Only there with LAB=1. */
@Injectable()
export class LabService {
  constructor(
    private readonly database: Database,
    private readonly coupons: CouponService,
    private readonly labCoupons: LabCouponRepository,
    private readonly lockService: LockService,
    @Inject(REDIS) private readonly redis: Redis | Cluster,
  ) {}

  /** Empties the named coupon, or makes a fresh one: a coupon of `total`, none issued. */
  async reset({ couponId, total }: LabResetDto): Promise<CouponView> {
    if (couponId === undefined) {
      return this.coupons.create({
        name: 'Lab',
        discount: { type: 'FIXED', value: 1000 },
        minOrder: 0,
        total,
        perUserLimit: 1,
      });
    }
    await this.database.transaction(async (tx) => {
      const [found] = await tx.query(lockCoupon, [couponId]);
      if (!found) throw couponErrors.COUPON_NOT_FOUND();
      await tx.query(deleteUserCoupons, [couponId]);
      await tx.query(deleteAnswers, []);
      await tx.query(deleteTickets, [lineOf(couponId)]);
      await this.labCoupons.empty(tx, couponId);
      await tx.query(emptyCoupon, [couponId, total]);
    });
    return this.coupons.find(couponId);
  }

  checkInvariants(): Promise<InvariantReport> {
    return checkInvariants(this.database, invariants);
  }

  /** Every lock that is held or waited for right now. */
  async locks(): Promise<LockList> {
    const items: LockList['items'] = [];
    for await (const name of scanKeys(this.redis, 'lock:*')) {
      const key = keyOfLockName(name);
      if (key !== undefined) items.push(await this.inspect(key));
    }
    return { items: items.filter(({ held, waitersHere, queued }) => held || waitersHere + queued > 0) };
  }

  private async inspect(key: string): Promise<LockView> {
    const { held, remainingMs, fence, queued, waitersHere } = await this.lockService.inspect(key);
    return { key, held, remainingMs, fence, queued, waitersHere };
  }
}
