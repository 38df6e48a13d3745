import { sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { optionIdsOf, reservePromised } from './reserve.js';
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

/**
 * Row locks, taken in ascending order of the options. Baskets a-b-c and c-b-a meet at their lowest common option and one
 * of them waits there, so that no circle of waiters, no deadlock, can arise.
 */
@Injectable()
export class SortedStock implements StockStrategy {
  readonly name = 'sorted';

  inTurn<R>(_basket: BasketLine[], transaction: () => Promise<R>): Promise<R> {
    return transaction();
  }

  async reserve(tx: Transaction, basket: BasketLine[]): Promise<StockedOption[]> {
    const options = await tx.query<StockedOption>(lockStatement, [optionIdsOf(basket)]);
    refuseShortfall(basket, options);
    // A statement of its own: it begins after the locks were got, and so it sees what earlier holders committed.
    await reservePromised(tx, basket, this.name);
    return options;
  }
}
