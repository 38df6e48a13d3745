import { sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { refuseShortfall } from './shortfall.js';
import type { BasketLine, StockedOption, StockStrategy } from './strategy.js';

const lockStatement = sql(
  'stock-sorted-lock',
  `select id as "optionId", name, price, on_hand - reserved as available
     from options
    where id = any($1::bigint[])
    order by id
      for no key update`,
);

// A statement of its own: it begins after the locks were got, and so it sees what earlier holders committed.
const reserveStatement = sql(
  'stock-sorted-reserve',
  `update options o
      set reserved = o.reserved + line.quantity
     from unnest($1::bigint[], $2::bigint[]) as line (option_id, quantity)
    where o.id = line.option_id
      and o.on_hand - o.reserved >= line.quantity
   returning o.id`,
);

/**
 * Row locks, taken in ascending order of the options. Baskets a-b-c and c-b-a meet at their lowest common option and one
 * of them waits there, so that no circle of waiters, no deadlock, can arise.
 */
@Injectable()
export class SortedStock implements StockStrategy {
  inTurn<R>(_basket: BasketLine[], transaction: () => Promise<R>): Promise<R> {
    return transaction();
  }

  async reserve(tx: Transaction, basket: BasketLine[]): Promise<StockedOption[]> {
    const optionIds = basket.map((line) => line.optionId);
    const options = await tx.query<StockedOption>(lockStatement, [optionIds]);
    refuseShortfall(basket, options);
    const quantities = basket.map((line) => line.quantity);
    const reserved = await tx.query(reserveStatement, [optionIds, quantities]);
    if (reserved.length !== basket.length)
      throw new Error(`${basket.length} options locked, ${reserved.length} reserved`);
    return options;
  }
}
