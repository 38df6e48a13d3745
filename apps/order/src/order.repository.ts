import { Database, sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { appendedBy, eventValues } from './event.repository.js';
import type { NewEvent } from './event.repository.js';
import type { OrderStatus } from './order.dto.js';
import type { OrderItemView } from './order.view.js';

export interface NewOrder {
  id: string;
  userId: string;
  items: OrderItemView[];
  subtotal: number;
  discount: number;
  total: number;
  userCouponId: string | null;
  ttlMs: number;
}

export interface OrderRow extends Omit<NewOrder, 'userId' | 'ttlMs'> {
  status: OrderStatus;
  createdAt: Date;
  expiresAt: Date;
  paidAt: Date | null;
  paymentId: string | null;
}

/** An order that an arrow has just moved: what is to be taken or given back with it. */
export interface MovedOrder {
  id: string;
  total: number;
  /** How many options it has. */
  options: number;
  userCouponId: string | null;
}

// The order, its items and its first events are one statement. The clock is the database's: one clock for all instances.
const createStatement = sql(
  'order-create',
  `with placed as (
     insert into orders (id, user_id, subtotal, discount, total, user_coupon_id, expires_at)
     values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7::float8 / 1000))
     returning id
   ), ${appendedBy('$1', '$12', '$13')}
   insert into order_items (order_id, option_id, name, price, quantity)
   select placed.id, item.option_id, item.name, item.price, item.quantity
     from placed, unnest($8::bigint[], $9::text[], $10::bigint[], $11::integer[]) as item (option_id, name, price, quantity)`,
);

// PENDING_PAYMENT -> PAID. An order past its time is not paid, whether or not a job has written that down.
const payStatement = sql(
  'order-pay',
  `update orders
      set status = 'PAID', paid_at = now()
    where id = $1 and user_id = $2
      and status = 'PENDING_PAYMENT'
      and expires_at > now()
   returning id, total, user_coupon_id as "userCouponId",
             (select count(*)::int from order_items where order_id = $1) as options`,
);

const moved = `returning id, total, user_coupon_id as "userCouponId",
  (select count(*)::int from order_items where order_id = $1) as options`;

// PENDING_PAYMENT -> CANCELLED, also past its time: expiry gives back the same, and one of them does.
const cancelStatement = sql(
  'order-cancel',
  `update orders set status = 'CANCELLED', ended_at = now()
    where id = $1 and user_id = $2 and status = 'PENDING_PAYMENT' ${moved}`,
);

// PENDING_PAYMENT -> EXPIRED
const expireStatement = sql(
  'order-expire',
  `update orders set status = 'EXPIRED', ended_at = now()
    where id = $1 and status = 'PENDING_PAYMENT' and expires_at <= now() ${moved}`,
);

// PAID -> REFUNDED
const refundStatement = sql(
  'order-refund',
  `update orders set status = 'REFUNDED', ended_at = now() where id = $1 and user_id = $2 and status = 'PAID' ${moved}`,
);

// Whoever holds one of them now is paying or cancelling it: there is a next time.
const overdueStatement = sql(
  'order-overdue',
  `select id from orders where status = 'PENDING_PAYMENT' and expires_at <= now()
    order by expires_at limit $1 for update skip locked`,
);

const lockStatement = sql('order-lock', 'select id from orders where id = $1 for no key update');

const standingStatement = sql(
  'order-standing',
  `select status, expires_at <= now() as overdue from orders where id = $1 and user_id = $2`,
);

const orderColumns = `o.id, o.status, o.subtotal, o.discount, o.total, o.user_coupon_id as "userCouponId",
  o.expires_at as "expiresAt", o.created_at as "createdAt", o.paid_at as "paidAt",
  (select p.id from payments p where p.order_id = o.id) as "paymentId",
  (select json_agg(json_build_object('optionId', i.option_id, 'name', i.name, 'price', i.price, 'quantity', i.quantity)
                   order by i.option_id)
     from order_items i where i.order_id = o.id) as items`;

const findStatement = sql('order-find', `select ${orderColumns} from orders o where o.id = $1 and o.user_id = $2`);

// Two statements, so that each is one range of its own index.
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const pageStatement = sql(
  'order-page',
  `select ${orderColumns} from orders o
    where o.user_id = $1 and o.id < coalesce($2::uuid, '${lastId}')
    order by o.id desc limit $3`,
);
const pageOfStatusStatement = sql(
  'order-page-of-status',
  `select ${orderColumns} from orders o
    where o.user_id = $1 and o.status = $4 and o.id < coalesce($2::uuid, '${lastId}')
    order by o.id desc limit $3`,
);

@Injectable()
export class OrderRepository {
  constructor(private readonly database: Database) {}

  async create(tx: Transaction, order: NewOrder, events: NewEvent[]): Promise<void> {
    const { id, userId, items, subtotal, discount, total, userCouponId, ttlMs } = order;
    await tx.query(createStatement, [
      id,
      userId,
      subtotal,
      discount,
      total,
      userCouponId,
      ttlMs,
      items.map((item) => item.optionId),
      items.map((item) => item.name),
      items.map((item) => item.price),
      items.map((item) => item.quantity),
      ...eventValues(events),
    ]);
  }

  /** What is to be paid for how many options, or nothing: then standing() says why. */
  async pay(tx: Transaction, id: string, userId: string): Promise<MovedOrder | undefined> {
    const [row] = await tx.query<MovedOrder>(payStatement, [id, userId]);
    return row;
  }

  /** Each of these three is an arrow: the order that it has just moved, or nothing, because somebody else has. */
  async cancel(tx: Transaction, id: string, userId: string): Promise<MovedOrder | undefined> {
    return (await tx.query<MovedOrder>(cancelStatement, [id, userId]))[0];
  }

  async expire(tx: Transaction, id: string): Promise<MovedOrder | undefined> {
    return (await tx.query<MovedOrder>(expireStatement, [id]))[0];
  }

  async refund(tx: Transaction, id: string, userId: string): Promise<MovedOrder | undefined> {
    return (await tx.query<MovedOrder>(refundStatement, [id, userId]))[0];
  }

  /** Whoever adds to an order's events without moving it. Nothing, where the order never came to be. */
  async lock(tx: Transaction, id: string): Promise<{ id: string } | undefined> {
    return (await tx.query<{ id: string }>(lockStatement, [id]))[0];
  }

  async overdue(limit: number): Promise<string[]> {
    return (await this.database.query<{ id: string }>(overdueStatement, [limit])).map(({ id }) => id);
  }

  async standing(
    tx: Transaction,
    id: string,
    userId: string,
  ): Promise<{ status: OrderStatus; overdue: boolean } | undefined> {
    const [row] = await tx.query<{ status: OrderStatus; overdue: boolean }>(standingStatement, [id, userId]);
    return row;
  }

  async find(db: Pick<Database, 'query'>, id: string, userId: string): Promise<OrderRow | undefined> {
    const [row] = await db.query<OrderRow>(findStatement, [id, userId]);
    return row;
  }

  /** Newest first, those before the order `before`. */
  page(
    userId: string,
    before: string | undefined,
    status: OrderStatus | undefined,
    limit: number,
  ): Promise<OrderRow[]> {
    const values = [userId, before ?? null, limit];
    if (status === undefined) return this.database.query<OrderRow>(pageStatement, values);
    return this.database.query<OrderRow>(pageOfStatusStatement, [...values, status]);
  }
}
