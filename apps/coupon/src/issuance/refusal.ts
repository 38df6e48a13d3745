import type { Answer, ProblemError } from '@firstcome/http';
import { couponErrors } from '../coupon.errors.js';
import type { Standing, UserCouponRow } from '../coupon.repository.js';

export function created(row: UserCouponRow): Answer {
  const { id, ...rest } = row;
  return { status: 201, body: JSON.stringify({ userCouponId: id, ...rest }), replayed: false };
}

type Reasons = Pick<Standing, 'status' | 'held' | 'perUserLimit' | 'userCouponId'>;

/** Why there is nothing for this user; undefined when nothing stands in the way. The order is the contract's. */
export function refusal(standing: Reasons | undefined): ProblemError | undefined {
  if (!standing) return couponErrors.COUPON_NOT_FOUND();
  if (standing.status === 'NOT_STARTED') return couponErrors.COUPON_NOT_STARTED();
  if (standing.status === 'ENDED') return couponErrors.COUPON_ENDED();
  if (standing.status === 'PAUSED') return couponErrors.COUPON_PAUSED();
  if (standing.held >= standing.perUserLimit) {
    return couponErrors.COUPON_ALREADY_ISSUED({ extra: { userCouponId: standing.userCouponId } });
  }
  return standing.status === 'SOLD_OUT' ? couponErrors.COUPON_SOLD_OUT() : undefined;
}
