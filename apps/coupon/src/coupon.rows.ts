// The rows of coupons and user coupons as every statement here reads them.
import type { CouponStatus, UserCouponStatus } from './coupon.dto.js';

export interface CouponRow {
  id: number;
  name: string;
  discountType: 'FIXED' | 'PERCENT';
  discountValue: number;
  maxDiscount: number | null;
  minOrder: number;
  total: number;
  issued: number;
  perUserLimit: number;
  startsAt: Date | null;
  endsAt: Date | null;
  status: CouponStatus;
}

export interface UserCouponRow {
  id: string;
  couponId: number;
  userId: string;
  serial: number;
  status: UserCouponStatus;
  issuedAt: Date;
  expiresAt: Date | null;
}

// The order of these cases is the order of the refusals. The clock is the database's: one clock for all instances.
export const couponStatus = `case
  when c.starts_at > now() then 'NOT_STARTED'
  when c.ends_at <= now() then 'ENDED'
  when c.paused then 'PAUSED'
  when c.issued >= c.total then 'SOLD_OUT'
  else 'ISSUABLE' end`;

export const couponColumns = `c.id, c.name, c.discount_type as "discountType", c.discount_value as "discountValue",
  c.max_discount as "maxDiscount", c.min_order as "minOrder", c.total, c.issued, c.per_user_limit as "perUserLimit",
  c.starts_at as "startsAt", c.ends_at as "endsAt", ${couponStatus} as status`;

// A coupon past its day is EXPIRED for every reader at that moment, whether or not a job has written it down.
export const userCouponStatus = `case when u.status = 'ISSUED' and u.expires_at <= now() then 'EXPIRED' else u.status end`;

export const userCouponColumns = `u.id, u.coupon_id as "couponId", u.user_id as "userId", u.serial, ${userCouponStatus} as status,
  u.issued_at as "issuedAt", u.expires_at as "expiresAt"`;
