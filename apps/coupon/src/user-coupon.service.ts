import { Database } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { couponErrors } from './coupon.errors.js';
import type { UserCouponStatus } from './coupon.dto.js';
import { discountOf } from './discount.js';
import type { CouponUseView, ReserveDto } from './user-coupon.dto.js';
import { UserCouponRepository } from './user-coupon.repository.js';
import type { CouponUse, FoundUserCoupon } from './user-coupon.repository.js';

const { USER_COUPON_NOT_FOUND, COUPON_NOT_USABLE, MIN_ORDER_NOT_MET } = couponErrors;

/** ISSUED -> RESERVED -> USED, and back to ISSUED by a release; each step once per order, however often it is asked. */
@Injectable()
export class UserCouponService {
  constructor(
    private readonly database: Database,
    private readonly userCoupons: UserCouponRepository,
  ) {}

  reserve(id: string, order: ReserveDto): Promise<CouponUseView> {
    return this.database.transaction((tx) => this.take(tx, id, order));
  }

  confirm(id: string, orderId: string): Promise<CouponUseView> {
    return this.database.transaction((tx) => this.use(tx, id, orderId));
  }

  /** Also without a reservation, which may still be on its way: the release that came first forbids it. */
  release(id: string, orderId: string): Promise<CouponUseView> {
    return this.database.transaction((tx) =>
      this.onUse(tx, id, orderId, async (coupon, use) => {
        const free = use && use.state !== 'RELEASED' ? await this.userCoupons.release(tx, id, orderId) : undefined;
        // Long since free, it has a life of its own: another order's, revoked, expired.
        return { state: 'RELEASED', discount: 0, status: free ?? coupon.status };
      }),
    );
  }

  take(tx: Transaction, id: string, { orderId, userId, subtotal }: ReserveDto): Promise<CouponUseView> {
    return this.onUse(tx, id, orderId, async (coupon, use) => {
      // Somebody else's is not found, like an absent one.
      if (coupon.userId !== userId) throw USER_COUPON_NOT_FOUND();
      if (use?.state === 'RELEASED') throw COUPON_NOT_USABLE();
      if (use) return use;
      if (coupon.status !== 'ISSUED') throw COUPON_NOT_USABLE();
      if (subtotal < coupon.minOrder) throw MIN_ORDER_NOT_MET();
      if (!(await this.userCoupons.reserve(tx, id, orderId))) throw COUPON_NOT_USABLE();
      return { state: 'RESERVED', discount: discountOf(coupon, subtotal) };
    });
  }

  use(tx: Transaction, id: string, orderId: string): Promise<CouponUseView> {
    return this.onUse(tx, id, orderId, async (_, use) => {
      if (use?.state === 'CONFIRMED') return use;
      if (!use || !(await this.userCoupons.confirm(tx, id, orderId))) throw COUPON_NOT_USABLE();
      return { ...use, state: 'CONFIRMED' };
    });
  }

  /** What take(), or with `used` use(), said of an order's use that is prepared and so cannot be seen: the rules do not change. */
  async taken(tx: Transaction, id: string, { orderId, userId, subtotal }: ReserveDto, used: boolean) {
    const coupon = await this.userCoupons.find(tx, id);
    if (coupon?.userId !== userId) throw USER_COUPON_NOT_FOUND();
    return viewOf(id, orderId, coupon, {
      state: used ? 'CONFIRMED' : 'RESERVED',
      discount: discountOf(coupon, subtotal),
    });
  }

  /** On the locked user coupon: look at this order's use of it, step, write the use down. */
  private async onUse(
    tx: Transaction,
    id: string,
    orderId: string,
    step: (coupon: FoundUserCoupon, use?: CouponUse) => Promise<Stepped>,
  ): Promise<CouponUseView> {
    const coupon = await this.userCoupons.lock(tx, id);
    if (!coupon) throw USER_COUPON_NOT_FOUND();
    const before = await this.userCoupons.findUse(tx, id, orderId);
    const use = await step(coupon, before);
    if (use !== before) await this.userCoupons.putUse(tx, id, orderId, use);
    return viewOf(id, orderId, coupon, use);
  }
}

/** The use, and what became of the user coupon where the use does not say it. */
type Stepped = CouponUse & { status?: UserCouponStatus };

const statusAfter: Record<CouponUse['state'], UserCouponStatus> = {
  RESERVED: 'RESERVED',
  CONFIRMED: 'USED',
  RELEASED: 'ISSUED',
};

function viewOf(id: string, orderId: string, { couponId }: FoundUserCoupon, use: Stepped): CouponUseView {
  const status = use.status ?? statusAfter[use.state];
  return { userCouponId: id, couponId, orderId, status, discount: use.discount };
}
