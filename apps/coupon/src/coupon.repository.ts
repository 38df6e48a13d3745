import { Database, sql } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { CreateCouponDto, CouponStatus, UserCouponStatus } from './coupon.dto.js';

/** What runs a statement: the pool (its own transaction) or the transaction that somebody opened. */
export type Executor = Pick<Database, 'query'>;

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

/** Why a user got nothing: the coupon's status, and what the user has of it already. */
export interface Standing {
  status: CouponStatus;
  perUserLimit: number;
  held: number;
  userCouponId: string | null;
  /** The highest fence that has written to the coupon. */
  fence: number;
}

// The order of these cases is the order of the refusals. The clock is the database's: one clock for all instances.
const couponStatus = `case
  when c.starts_at > now() then 'NOT_STARTED'
  when c.ends_at <= now() then 'ENDED'
  when c.paused then 'PAUSED'
  when c.issued >= c.total then 'SOLD_OUT'
  else 'ISSUABLE' end`;

const couponColumns = `c.id, c.name, c.discount_type as "discountType", c.discount_value as "discountValue",
  c.max_discount as "maxDiscount", c.min_order as "minOrder", c.total, c.issued, c.per_user_limit as "perUserLimit",
  c.starts_at as "startsAt", c.ends_at as "endsAt", ${couponStatus} as status`;

// A coupon past its day is EXPIRED for every reader at that moment, whether or not a job has written it down.
const userCouponStatus = `case when u.status = 'ISSUED' and u.expires_at <= now() then 'EXPIRED' else u.status end`;

const userCouponColumns = `u.id, u.coupon_id as "couponId", u.user_id as "userId", u.serial, ${userCouponStatus} as status,
  u.issued_at as "issuedAt", u.expires_at as "expiresAt"`;

// The whole issue in one statement. The update takes the coupon's row, so serials are drawn one after the other and the
// clock is read in their order. Two copies of one user's request may both pass the count (each sees what was there when its
// statement began); then user_coupons_nth_once refuses the second, the counter goes back with it, and the caller looks again.
// A fence ($4) older than one that has already written gets nothing; without a lock there is no fence to compare.
const issueStatement = sql(
  'coupon-issue',
  `with mine as (
     select count(*)::int as held from user_coupons where coupon_id = $1 and user_id = $2
   ), taken as (
     update coupons c
        set issued = issued + 1, fence = greatest(fence, $4::bigint)
       from mine
      where c.id = $1
        and issued < total
        and not paused
        and (starts_at is null or starts_at <= now())
        and (ends_at is null or ends_at > now())
        and ($4::bigint is null or fence <= $4::bigint)
        and held < per_user_limit
     returning issued as serial, held + 1 as nth, valid_days, clock_timestamp() as at
   )
   insert into user_coupons as u (id, coupon_id, user_id, serial, nth, issued_at, expires_at)
   select $3::uuid, $1, $2, serial, nth, at, at + make_interval(hours => 24 * valid_days) from taken
   returning ${userCouponColumns}`,
);

const standingStatement = sql(
  'coupon-standing',
  `select ${couponStatus} as status, c.per_user_limit as "perUserLimit", c.fence, mine.held, mine.last as "userCouponId"
     from coupons c,
          (select count(*)::int as held, (array_agg(id order by nth desc))[1] as last
             from user_coupons where coupon_id = $1 and user_id = $2) mine
    where c.id = $1`,
);

const insertStatement = sql(
  'coupon-insert',
  `insert into coupons as c (name, discount_type, discount_value, max_discount, min_order, total, per_user_limit,
                             starts_at, ends_at, valid_days)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${couponColumns}`,
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

  /** One coupon for one user, or nothing: then standing() says why. */
  async issueOne(db: Executor, couponId: number, userId: string, id: string, fence?: number) {
    const [row] = await db.query<UserCouponRow>(issueStatement, [couponId, userId, id, fence ?? null]);
    return row;
  }

  async standing(db: Executor, couponId: number, userId: string): Promise<Standing | undefined> {
    const [row] = await db.query<Standing>(standingStatement, [couponId, userId]);
    return row;
  }

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
