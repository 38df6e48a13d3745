import { Database, sql } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { ChangeCouponDto, CreateCouponDto, CouponStatus, UserCouponStatus } from './coupon.dto.js';
import { couponColumns, couponStatus, userCouponColumns, userCouponStatus } from './coupon.rows.js';
import type { CouponRow, UserCouponRow } from './coupon.rows.js';

const insertStatement = sql(
  'coupon-insert',
  `insert into coupons as c (name, discount_type, discount_value, max_discount, min_order, total, per_user_limit,
                             starts_at, ends_at, valid_days)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${couponColumns}`,
);

// What a change may not break is the table's to say: issued <= total, endsAt after startsAt.
const changeStatement = sql(
  'coupon-change',
  `update coupons c
      set name = coalesce($2, name), total = coalesce($3, total),
          ends_at = case when $4 then $5::timestamptz else ends_at end, version = version + 1
    where c.id = $1 returning ${couponColumns}`,
);
const setPausedStatement = sql(
  'coupon-set-paused',
  `update coupons c set paused = $2, version = version + 1 where c.id = $1 returning ${couponColumns}`,
);

const revokeStatement = sql(
  'user-coupon-revoke',
  `update user_coupons u set status = 'REVOKED'
    where u.id = $1 and (u.status = 'REVOKED' or u.status = 'ISSUED' and (u.expires_at is null or u.expires_at > now()))
   returning ${userCouponColumns}`,
);
const findUserCouponStatement = sql(
  'user-coupon-view',
  `select ${userCouponColumns} from user_coupons u where u.id = $1`,
);

const findStatement = sql('coupon-find', `select ${couponColumns} from coupons c where c.id = $1`);

const pageStatement = sql(
  'coupon-page',
  `select ${couponColumns} from coupons c
    where ($1::bigint is null or c.id < $1) and ($2::text is null or ${couponStatus} = $2)
    order by c.id desc limit $3`,
);

const pageOfUserStatement = sql(
  'user-coupon-page',
  `select ${userCouponColumns} from user_coupons u
    where u.user_id = $1 and ($2::uuid is null or u.id < $2) and ($3::text is null or ${userCouponStatus} = $3)
    order by u.id desc limit $4`,
);

@Injectable()
export class CouponRepository {
  constructor(private readonly database: Database) {}

  async create(coupon: CreateCouponDto): Promise<CouponRow> {
    const { name, discount, minOrder, total, perUserLimit, startsAt, endsAt, validDays } = coupon;
    const rules = [discount.type, discount.value, discount.maxDiscount ?? null, minOrder, total, perUserLimit];
    const [row] = await this.database.query<CouponRow>(insertStatement, [
      name,
      ...rules,
      startsAt ?? null,
      endsAt ?? null,
      validDays ?? null,
    ]);
    return row!;
  }

  async change(id: number, { name, total, endsAt }: ChangeCouponDto): Promise<CouponRow | undefined> {
    const values = [id, name ?? null, total ?? null, endsAt !== undefined, endsAt ?? null];
    const [row] = await this.database.query<CouponRow>(changeStatement, values);
    return row;
  }

  async setPaused(id: number, paused: boolean): Promise<CouponRow | undefined> {
    const [row] = await this.database.query<CouponRow>(setPausedStatement, [id, paused]);
    return row;
  }

  /** REVOKED from ISSUED, or again; nothing where it is in any other state. */
  async revoke(id: string): Promise<UserCouponRow | undefined> {
    const [row] = await this.database.query<UserCouponRow>(revokeStatement, [id]);
    return row;
  }

  async findUserCoupon(id: string): Promise<UserCouponRow | undefined> {
    const [row] = await this.database.query<UserCouponRow>(findUserCouponStatement, [id]);
    return row;
  }

  async find(id: number): Promise<CouponRow | undefined> {
    const [row] = await this.database.query<CouponRow>(findStatement, [id]);
    return row;
  }

  /** Newest first, those after the coupon `before`. */
  page(before: number | undefined, status: CouponStatus | undefined, limit: number): Promise<CouponRow[]> {
    return this.database.query<CouponRow>(pageStatement, [before ?? null, status ?? null, limit]);
  }

  pageOfUser(userId: string, before: string | undefined, status: UserCouponStatus | undefined, limit: number) {
    return this.database.query<UserCouponRow>(pageOfUserStatement, [userId, before ?? null, status ?? null, limit]);
  }
}
