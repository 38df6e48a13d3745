import { Database, sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
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

// The order and its items are one statement. The clock is the database's: one clock for all instances.
const createStatement = sql(
  'order-create',
  `with placed as (
     insert into orders (id, user_id, subtotal, discount, total, user_coupon_id, expires_at)
     values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7::float8 / 1000))
     returning id
   )
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
   returning total, (select count(*)::int from order_items where order_id = $1) as options`,
);

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

  async create(tx: Transaction, order: NewOrder): Promise<void> {
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
    ]);
  }

  /** What is to be paid for how many options, or nothing: then standing() says why. */
  async pay(tx: Transaction, id: string, userId: string): Promise<{ total: number; options: number } | undefined> {
    const [row] = await tx.query<{ total: number; options: number }>(payStatement, [id, userId]);
    return row;
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
