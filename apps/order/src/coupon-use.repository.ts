import { Database, sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';

export type CouponUseState = 'RESERVING' | 'RESERVED' | 'CONFIRMING' | 'CONFIRMED' | 'RELEASING' | 'RELEASED';

export interface CouponUse {
  orderId: string;
  userCouponId: string;
  /** Of the idempotency key with its scope: in progress while the use is an attempt. */
  requestId: Buffer;
  state: CouponUseState;
  /** What is to become of the coupon's half under 2pc; null where there is none (any more). */
  twoPhase: 'PREPARING' | 'COMMITTING' | 'ABORTING' | null;
}

export interface NewCouponUse {
  orderId: string;
  userCouponId: string;
  userId: string;
  /** Of the idempotency key with its scope. */
  requestId: Buffer;
  twoPhase: boolean;
}

const columns = `order_id as "orderId", user_coupon_id as "userCouponId", request_id as "requestId", state,
  two_phase as "twoPhase"`;

// The subquery waits for nobody: while an order is in doubt its row is locked, and the index would wait for the end of that.
const beginStatement = sql(
  'coupon-use-begin',
  `insert into coupon_uses (order_id, user_coupon_id, user_id, request_id, state, two_phase, due_at)
   select $1, $2, $3, $4, 'RESERVING', case when $6::boolean then 'PREPARING' end, now() + make_interval(secs => $5::float8 / 1000)
    where not exists (select from coupon_uses where user_coupon_id = $2 and user_id = $3 and state <> 'RELEASED')
   on conflict (user_coupon_id, user_id) where state = 'RESERVING' do nothing
   returning order_id`,
);
const openStatement = sql(
  'coupon-use-open',
  `select state, request_id = $3 as same from coupon_uses
    where user_coupon_id = $1 and user_id = $2 and state <> 'RELEASED'`,
);
// Every arrow of a use: from the states that it leaves, or not at all. What is PREPARING follows it; what is COMMITTING has to be
// committed first, which the CHECK holds.
const moveStatement = sql(
  'coupon-use-move',
  `update coupon_uses
      set state = $3, due_at = now() + make_interval(secs => $4::float8 / 1000),
          two_phase = case when two_phase = 'COMMITTING' then 'COMMITTING'
                           when two_phase is null or $3::text = 'RELEASED' then null
                           when $3::text = 'RESERVED' then 'COMMITTING'
                           else 'ABORTING' end
    where order_id = $1 and state = any($2::text[]) returning ${columns}`,
);
const committedStatement = sql(
  'coupon-use-committed',
  `update coupon_uses set two_phase = null where order_id = $1 and two_phase = 'COMMITTING'`,
);
const findStatement = sql('coupon-use-find', `select ${columns} from coupon_uses where order_id = $1`);
const dueStatement = sql(
  'coupon-use-due',
  `select ${columns} from coupon_uses
    where (state in ('RESERVING', 'CONFIRMING', 'RELEASING') or two_phase is not null)
      and due_at <= now() order by due_at limit $1`,
);
const postponeStatement = sql(
  'coupon-use-postpone',
  `update coupon_uses set due_at = now() + make_interval(secs => $2::float8 / 1000) where order_id = $1`,
);

@Injectable()
export class CouponUseRepository {
  constructor(private readonly database: Database) {}

  /** False while this user's coupon is in another use that has not come to its end: open() says in which. */
  async begin(tx: Transaction, use: NewCouponUse, dueMs: number): Promise<boolean> {
    const { orderId, userCouponId, userId, requestId, twoPhase } = use;
    const values = [orderId, userCouponId, userId, requestId, dueMs, twoPhase];
    return (await tx.query(beginStatement, values)).length === 1;
  }

  /** `same`: of the same request. */
  open({ userCouponId, userId, requestId }: NewCouponUse): Promise<{ state: CouponUseState; same: boolean }[]> {
    return this.database.query(openStatement, [userCouponId, userId, requestId]);
  }

  async move(
    db: Pick<Transaction, 'query'>,
    orderId: string,
    from: CouponUseState[],
    to: CouponUseState,
    dueMs: number,
  ): Promise<CouponUse | undefined> {
    return (await db.query<CouponUse>(moveStatement, [orderId, from, to, dueMs]))[0];
  }

  /** The coupon's half is committed. */
  async committed(orderId: string): Promise<void> {
    await this.database.query(committedStatement, [orderId]);
  }

  async find(orderId: string): Promise<CouponUse | undefined> {
    return (await this.database.query<CouponUse>(findStatement, [orderId]))[0];
  }

  due(limit: number): Promise<CouponUse[]> {
    return this.database.query<CouponUse>(dueStatement, [limit]);
  }

  async postpone(orderId: string, dueMs: number): Promise<void> {
    await this.database.query(postponeStatement, [orderId, dueMs]);
  }
}
