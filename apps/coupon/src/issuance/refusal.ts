import type { Answer, ProblemError } from '@firstcome/http';
import { couponErrors } from '../coupon.errors.js';
import type { UserCouponRow } from '../coupon.rows.js';
import type { Reasons } from './issue.repository.js';

export function created(row: UserCouponRow): Answer {
  const { id, couponId, userId, serial, status, issuedAt, expiresAt } = row;
  const body = { userCouponId: id, couponId, userId, serial, status, issuedAt, expiresAt };
  return { status: 201, body: JSON.stringify(body), replayed: false };
}

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
