import { Database, sql } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { CouponStatus } from '../coupon.dto.js';
import { couponStatus, userCouponColumns } from '../coupon.rows.js';
import type { UserCouponRow } from '../coupon.rows.js';

/** What runs a statement: the pool (its own transaction) or the transaction that somebody opened. */
export type Executor = Pick<Database, 'query'>;

/** Why a user got nothing: the coupon's status, and what the user has of it already. */
export interface Standing {
  status: CouponStatus;
  perUserLimit: number;
  held: number;
  userCouponId: string | null;
  /** Goes up with every change of the coupon. */
  version: number;
  /** The highest fences that have written to the coupon, by the store of the lock. */
  fence: number;
  redlockFence: number;
}

/** What decides about a refusal. */
export type Reasons = Pick<Standing, 'status' | 'held' | 'perUserLimit' | 'userCouponId'>;

export type LockedCoupon = Pick<Standing, 'status' | 'perUserLimit' | 'fence'>;

/** What became of one request of a batch: the user coupon, or nulls; and what the user had before. */
export type JudgedRow = { held: number; lastId: string | null } & (
  UserCouponRow | { [K in keyof UserCouponRow]: null }
);

/** What an issue insists on beyond the rules of the coupon: nobody wrote with a later fence, or at all since a look. */
export interface Proof {
  fence?: number;
  redlockFence?: number;
  version?: number;
}

// The whole issue in one statement. The update takes the coupon's row, so serials are drawn one after the other and the
// clock is read in their order. Two copies of one user's request may both pass the count (each sees what was there when its
// statement began); then user_coupons_nth_once refuses the second, the counter goes back with it, and the caller looks again.
// A fence ($4, $5) older than one that has already written gets nothing; without a lock there is no fence to compare. Nor does
// a version ($6) that is not the row's any more.
export const issueStatement = sql(
  'coupon-issue',
  `with mine as (
     select count(*)::int as held from user_coupons where coupon_id = $1 and user_id = $2
   ), taken as (
     update coupons c
        set issued = issued + 1, version = version + 1,
            fence = greatest(fence, $4::bigint), redlock_fence = greatest(redlock_fence, $5::bigint)
       from mine
      where c.id = $1
        and issued < total
        and not paused
        and (starts_at is null or starts_at <= now())
        and (ends_at is null or ends_at > now())
        and ($4::bigint is null or fence <= $4::bigint)
        and ($5::bigint is null or redlock_fence <= $5::bigint)
        and ($6::bigint is null or version = $6::bigint)
        and held < per_user_limit
     returning issued as serial, held + 1 as nth, valid_days, clock_timestamp() as at
   )
   insert into user_coupons as u (id, coupon_id, user_id, serial, nth, issued_at, expires_at)
   select $3::uuid, $1, $2, serial, nth, at, at + make_interval(hours => 24 * valid_days) from taken
   returning ${userCouponColumns}`,
);

const standingStatement = sql(
  'coupon-standing',
  `select ${couponStatus} as status, c.per_user_limit as "perUserLimit", c.version, c.fence,
          c.redlock_fence as "redlockFence", mine.held, mine.last as "userCouponId"
     from coupons c,
          (select count(*)::int as held, (array_agg(id order by nth desc))[1] as last
             from user_coupons where coupon_id = $1 and user_id = $2) mine
    where c.id = $1`,
);

// The wait for a row or an advisory lock ends by the request's own deadline. It is set in the statement that waits, because
// PostgreSQL reads it only when the wait begins: the scan filters before its rows are locked.
const lockRowStatement = sql(
  'coupon-lock-row',
  `select from coupons where id = $1 and set_config('lock_timeout', $2, true) is not null for update`,
);
const lockNumberStatement = sql(
  'coupon-lock-number',
  `select pg_advisory_xact_lock($1::bigint)
     from (select set_config('lock_timeout', $2, true) as patience offset 0) first where patience is not null`,
);

// A batch: the coupon's row is locked in a statement of its own, because the next one then has a new snapshot and sees all
// that earlier holders of the row committed; in one statement it would count from before its wait, and issue too few or
// fail. The plan of the next is made once and kept, perhaps while the table is empty: without sequential scans it stays a
// look into the index for each user, however many coupons there will be.
const lockBatchStatement = sql(
  'coupon-lock-batch',
  `select c.per_user_limit as "perUserLimit", ${couponStatus} as status, c.fence
     from coupons c where c.id = $1 and set_config('enable_seqscan', 'off', true) is not null for update`,
);

// Who gets one: up to the limit of each user, in order of arrival, as far as the coupon goes. The serial is what was issued
// plus the place among them. Everybody's place comes back, so that each request gets its own answer.
const issueManyStatement = sql(
  'coupon-issue-many',
  `with asked as materialized (
     select place, user_id, id, row_number() over (partition by user_id order by place)::int as copy
       from unnest($2::text[], $3::uuid[]) with ordinality as each (user_id, id, place)
   ), judged as materialized (
     select asked.*, mine.held, mine.last
       from asked cross join lateral (
         select count(*)::int as held, (array_agg(u.id order by u.nth desc))[1] as last
           from user_coupons u where u.coupon_id = $1 and u.user_id = asked.user_id) mine
   ), granted as materialized (
     select first.*, row_number() over (order by place)::int as turn
       from (select judged.* from judged, coupons c where c.id = $1 and held + copy <= c.per_user_limit
              order by place limit (select total - issued from coupons where id = $1)) first
   ), taken as (
     update coupons
        set issued = issued + (select count(*) from granted), version = version + 1, fence = greatest(fence, $4::bigint)
      where id = $1
     returning issued - (select count(*) from granted)::int as before, valid_days, clock_timestamp() as at
   ), put as (
     insert into user_coupons as u (id, coupon_id, user_id, serial, nth, issued_at, expires_at)
     select id, $1, user_id, before + turn, held + copy, at, at + make_interval(hours => 24 * valid_days)
       from granted, taken order by turn
     returning ${userCouponColumns}
   )
   select judged.place::int, judged.held, judged.last as "lastId", put.id, put."couponId", put."userId", put.serial,
          put.status, put."issuedAt", put."expiresAt"
     from judged left join put on put.id = judged.id order by judged.place`,
);

const standingOfManyStatement = sql(
  'coupon-standing-of-many',
  `select ${couponStatus} as status, c.per_user_limit as "perUserLimit", mine.held, mine.last as "userCouponId"
     from unnest($2::text[]) with ordinality as asked (user_id, place) join coupons c on c.id = $1
          cross join lateral (
            select count(*)::int as held, (array_agg(u.id order by u.nth desc))[1] as last
              from user_coupons u where u.coupon_id = $1 and u.user_id = asked.user_id) mine
    order by asked.place`,
);

/** The statements of an issue: what the strategies and their critical section are made of. */
@Injectable()
export class IssueRepository {
  constructor(private readonly database: Database) {}

  /** One coupon for one user, or nothing: then standing() says why. */
  async issueOne(db: Executor, couponId: number, userId: string, id: string, proof: Proof = {}) {
    const { fence = null, redlockFence = null, version = null } = proof;
    const values = [couponId, userId, id, fence, redlockFence, version];
    const [row] = await db.query<UserCouponRow>(issueStatement, values);
    return row;
  }

  /** The coupon's row until the end of the transaction. */
  async lockRow(tx: Executor, couponId: number, waitMs: number): Promise<void> {
    await tx.query(lockRowStatement, [couponId, `${waitMs}ms`]);
  }

  /** A lock of PostgreSQL that is nothing but a 64-bit number, until the end of the transaction. */
  async lockNumber(tx: Executor, number: bigint, waitMs: number): Promise<void> {
    await tx.query(lockNumberStatement, [number.toString(), `${waitMs}ms`]);
  }

  async standing(db: Executor, couponId: number, userId: string): Promise<Standing | undefined> {
    const [row] = await db.query<Standing>(standingStatement, [couponId, userId]);
    return row;
  }

  /** The coupon as it stays until the end of the transaction. */
  async lockForBatch(tx: Executor, couponId: number): Promise<LockedCoupon | undefined> {
    const [row] = await tx.query<LockedCoupon>(lockBatchStatement, [couponId]);
    return row;
  }

  /** After lockForBatch, in a statement of its own: a row for each user in the order given, with or without a coupon. */
  issueMany(tx: Executor, couponId: number, users: string[], ids: string[], fence: number): Promise<JudgedRow[]> {
    return tx.query<JudgedRow>(issueManyStatement, [couponId, users, ids, fence]);
  }

  /** standing() of each user, in the order given; nothing where there is no such coupon. */
  standingOfMany(tx: Executor | undefined, couponId: number, users: string[]): Promise<Reasons[]> {
    return (tx ?? this.database).query<Reasons>(standingOfManyStatement, [couponId, users]);
  }
}
