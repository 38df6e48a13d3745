import type { Answer } from '@firstcome/http';
import { Injectable } from '@nestjs/common';
import { CouponClient, isRefusal } from '../coupon.client.js';
import { CouponUseService } from '../coupon-use.service.js';
import { isPlaced } from './strategy.js';
import type { Coordination, CouponHold, CouponWish, Decide } from './strategy.js';

/**
 * Each service commits by itself: the coupon is reserved, the order is decided, and the coupon follows it: confirmed with the
 * payment, given back where no order came to be. Nothing is locked in between; for a moment one database is ahead.
 */
@Injectable()
export class Saga implements Coordination {
  readonly name = 'saga';

  constructor(
    private readonly coupons: CouponClient,
    private readonly couponUses: CouponUseService,
  ) {}

  async place(wish: CouponWish, decide: Decide): Promise<Answer> {
    const hold = await this.reserve(wish);
    let placed = false;
    try {
      const answer = await decide(hold);
      placed = isPlaced(answer);
      return answer;
    } finally {
      if (!placed) await this.couponUses.abandon(hold);
      else if (wish.pay) await this.couponUses.settle(hold.orderId);
    }
  }

  private async reserve(wish: CouponWish): Promise<CouponHold> {
    const hold = await this.couponUses.begin(wish, this.name);
    if (hold.refusal) return hold;
    const { userCouponId, userId, subtotal } = wish;
    try {
      const discount = await this.coupons.reserve(userCouponId, { orderId: hold.orderId, userId, subtotal });
      return { ...hold, discount };
    } catch (error) {
      if (isRefusal(error)) return { ...hold, refusal: error };
      await this.couponUses.abandon(hold);
      throw error;
    }
  }
}
