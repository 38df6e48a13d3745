import { sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { UserCouponRow } from './coupon.rows.js';
import type { Standing } from './issuance/issue.repository.js';

export type LabStanding = Pick<Standing, 'status' | 'held' | 'perUserLimit' | 'userCouponId'> & { issued: number };

// The rules of the real coupon, the counts of the lab.
const standingStatement = sql(
  'lab-standing',
  `select case
       when c.starts_at > now() then 'NOT_STARTED'
       when c.ends_at <= now() then 'ENDED'
       when c.paused then 'PAUSED'
       when coalesce(l.issued, 0) >= c.total then 'SOLD_OUT'
       else 'ISSUABLE' end as status,
     c.per_user_limit as "perUserLimit", coalesce(l.issued, 0) as issued, mine.held, mine.last as "userCouponId"
     from coupons c left join lab_coupons l on l.coupon_id = c.id,
          (select count(*)::int as held, (array_agg(id order by id desc))[1] as last
             from lab_user_coupons where coupon_id = $1 and user_id = $2) mine
    where c.id = $1`,
);

const insertStatement = sql(
  'lab-insert',
  `insert into lab_user_coupons (id, coupon_id, user_id, serial, issued_at, expires_at)
   select $3::uuid, id, $2, $4, at, at + make_interval(hours => 24 * valid_days)
     from coupons, (select clock_timestamp() as at) clock where id = $1
   returning id, coupon_id as "couponId", user_id as "userId", serial, 'ISSUED' as status, issued_at as "issuedAt",
             expires_at as "expiresAt"`,
);

const setIssuedStatement = sql(
  'lab-set-issued',
  `insert into lab_coupons (coupon_id, issued) values ($1, $2)
   on conflict (coupon_id) do update set issued = excluded.issued`,
);

const emptyStatements = ['lab_coupons', 'lab_user_coupons'].map((table) =>
  sql(`lab-empty-${table}`, `delete from ${table} where coupon_id = $1`),
);

/** The tables of strategy `none`: each statement is harmless, and nothing holds them together. */
@Injectable()
export class LabCouponRepository {
  async standing(tx: Transaction, couponId: number, userId: string): Promise<LabStanding | undefined> {
    const [row] = await tx.query<LabStanding>(standingStatement, [couponId, userId]);
    return row;
  }

  async insert(tx: Transaction, couponId: number, userId: string, id: string, serial: number): Promise<UserCouponRow> {
    const [row] = await tx.query<UserCouponRow>(insertStatement, [couponId, userId, id, serial]);
    return row!;
  }

  async setIssued(tx: Transaction, couponId: number, issued: number): Promise<void> {
    await tx.query(setIssuedStatement, [couponId, issued]);
  }

  async empty(tx: Transaction, couponId: number): Promise<void> {
    for (const statement of emptyStatements) await tx.query(statement, [couponId]);
  }
}
