import { sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { UserCouponStatus } from './coupon.dto.js';
import type { DiscountRules } from './discount.js';

export interface FoundUserCoupon extends DiscountRules {
  couponId: number;
  userId: string;
  minOrder: number;
  status: UserCouponStatus;
}

export interface CouponUse {
  state: 'RESERVED' | 'CONFIRMED' | 'RELEASED';
  discount: number;
}

const userCoupon = `select u.coupon_id as "couponId", u.user_id as "userId", c.min_order as "minOrder",
          c.discount_type as "discountType", c.discount_value as "discountValue", c.max_discount as "maxDiscount",
          case when u.status = 'ISSUED' and u.expires_at <= now() then 'EXPIRED' else u.status end as status
     from user_coupons u join coupons c on c.id = u.coupon_id
    where u.id = $1`;
const findStatement = sql('user-coupon-find', userCoupon);
const lockStatement = sql('user-coupon-lock', `${userCoupon} for no key update of u`);
const findUseStatement = sql(
  'user-coupon-use-find',
  'select state, discount from coupon_uses where user_coupon_id = $1 and order_id = $2',
);
const putUseStatement = sql(
  'user-coupon-use-put',
  `insert into coupon_uses (user_coupon_id, order_id, state, discount) values ($1, $2, $3, $4)
   on conflict (user_coupon_id, order_id) do update set state = excluded.state, discount = excluded.discount`,
);

// Every arrow of a user coupon is one guarded statement: from the state it leaves, and for the order that holds it.
const reserveStatement = sql(
  'user-coupon-reserve',
  `update user_coupons set status = 'RESERVED', order_id = $2
    where id = $1 and status = 'ISSUED' and (expires_at is null or expires_at > now()) returning status`,
);
const confirmStatement = sql(
  'user-coupon-confirm',
  `update user_coupons set status = 'USED' where id = $1 and order_id = $2 and status = 'RESERVED' returning status`,
);
const releaseStatement = sql(
  'user-coupon-release',
  `update user_coupons set status = 'ISSUED', order_id = null
    where id = $1 and order_id = $2 and status in ('RESERVED', 'USED')
   returning case when expires_at <= now() then 'EXPIRED' else status end as status`,
);

@Injectable()
export class UserCouponRepository {
  async find(tx: Transaction, id: string): Promise<FoundUserCoupon | undefined> {
    const [row] = await tx.query<FoundUserCoupon>(findStatement, [id]);
    return row;
  }

  /** The row, locked: what is decided on it holds until the transaction ends. */
  async lock(tx: Transaction, id: string): Promise<FoundUserCoupon | undefined> {
    const [row] = await tx.query<FoundUserCoupon>(lockStatement, [id]);
    return row;
  }

  async findUse(tx: Transaction, id: string, orderId: string): Promise<CouponUse | undefined> {
    const [row] = await tx.query<CouponUse>(findUseStatement, [id, orderId]);
    return row;
  }

  async putUse(tx: Transaction, id: string, orderId: string, { state, discount }: CouponUse): Promise<void> {
    await tx.query(putUseStatement, [id, orderId, state, discount]);
  }

  async reserve(tx: Transaction, id: string, orderId: string): Promise<boolean> {
    return (await tx.query(reserveStatement, [id, orderId])).length === 1;
  }

  async confirm(tx: Transaction, id: string, orderId: string): Promise<boolean> {
    return (await tx.query(confirmStatement, [id, orderId])).length === 1;
  }

  /** What the user coupon is once it is free, or nothing: then it was not with this order. */
  async release(tx: Transaction, id: string, orderId: string): Promise<UserCouponStatus | undefined> {
    const [row] = await tx.query<{ status: UserCouponStatus }>(releaseStatement, [id, orderId]);
    return row?.status;
  }
}
