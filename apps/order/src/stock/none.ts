import { uuidv7 } from '@firstcome/http';
import { sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { NewOrder } from '../order.repository.js';
import { orderView } from '../order.view.js';
import type { OrderView } from '../order.view.js';
import { optionIdsOf } from './reserve.js';
import { refuseShortfall } from './shortfall.js';
import type { BasketLine, StockedOption, StockStrategy } from './strategy.js';

// An option gets a shelf of its own here with its first unguarded order: as many pieces as are available then.
const stockStatement = sql(
  'stock-none-stock',
  `insert into lab_option_stock (option_id, total, left_over)
   select id, on_hand - reserved, on_hand - reserved from options
    where id = any($1::bigint[]) and id not in (select option_id from lab_option_stock where option_id = any($1::bigint[]))
    order by id
   on conflict do nothing`,
);
const readStatement = sql(
  'stock-none-read',
  `select o.id as "optionId", o.name, o.price, s.left_over as available
     from options o join lab_option_stock s on s.option_id = o.id
    where o.id = any($1::bigint[]) order by o.id`,
);
const writeStatement = sql('stock-none-write', 'update lab_option_stock set left_over = $2 where option_id = $1');
const keepStatement = sql(
  'stock-none-keep',
  `insert into lab_orders (order_id, user_id, option_id, quantity)
   select $1, $2, line.option_id, line.quantity from unnest($3::bigint[], $4::integer[]) as line (option_id, quantity)`,
);

/**
 * Lab only, the negative control: reads, thinks, writes. Two baskets that read the same number both write that number less
 * their own, and one sale is forgotten. On tables of its own, so that what it breaks is not what the others are judged by.
 */
@Injectable()
export class NoStock implements StockStrategy {
  readonly name = 'none';

  inTurn<R>(_basket: BasketLine[], transaction: () => Promise<R>): Promise<R> {
    return transaction();
  }

  async reserve(tx: Transaction, basket: BasketLine[]): Promise<StockedOption[]> {
    const optionIds = optionIdsOf(basket);
    await tx.query(stockStatement, [optionIds]);
    const options = await tx.query<StockedOption>(readStatement, [optionIds]);
    refuseShortfall(basket, options);
    for (const [at, { optionId, quantity }] of basket.entries())
      await tx.query(writeStatement, [optionId, options[at]!.available - quantity]);
    return options;
  }

  /** The answer looks like any other. No point is spent, and nobody can look the order up. */
  async keep(tx: Transaction, { userId, ttlMs, ...order }: NewOrder, paid: boolean): Promise<OrderView> {
    const { id, items } = order;
    await tx.query(keepStatement, [id, userId, items.map((item) => item.optionId), items.map((item) => item.quantity)]);
    const createdAt = new Date();
    return orderView({
      ...order,
      status: paid ? 'PAID' : 'PENDING_PAYMENT',
      createdAt,
      expiresAt: new Date(createdAt.getTime() + ttlMs),
      paidAt: paid ? createdAt : null,
      paymentId: paid ? uuidv7() : null,
    });
  }
}
