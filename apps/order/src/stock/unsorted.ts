import { sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { deadlockVictims } from './counters.js';
import { reservePromised } from './reserve.js';
import { refuseShortfall } from './shortfall.js';
import type { BasketLine, StockedOption, StockStrategy } from './strategy.js';

const DEADLOCK_DETECTED = '40P01';

const lockStatement = sql(
  'stock-unsorted-lock',
  `select id as "optionId", name, price, on_hand - reserved as available
     from options
    where id = $1
      for no key update`,
);

/**
 * Lab only. Row locks in the order in which the request names its options: baskets a-b and b-a each get one and wait for
 * the other, until PostgreSQL ends one of them after its deadlock_timeout. Sound, slow, and the reason why `sorted` sorts.
 */
@Injectable()
export class UnsortedStock implements StockStrategy {
  readonly name = 'unsorted';

  async inTurn<R>(_basket: BasketLine[], transaction: () => Promise<R>): Promise<R> {
    try {
      return await transaction();
    } catch (error) {
      // The victim's work is undone; it is told that somebody was faster, and may come again.
      if (error instanceof DatabaseError && error.code === DEADLOCK_DETECTED)
        deadlockVictims.inc({ strategy: this.name });
      throw error;
    }
  }

  async reserve(tx: Transaction, basket: BasketLine[]): Promise<StockedOption[]> {
    const options: StockedOption[] = [];
    for (const { optionId } of asRequested(basket))
      options.push(...(await tx.query<StockedOption>(lockStatement, [optionId])));
    refuseShortfall(basket, options);
    await reservePromised(tx, basket, this.name);
    return options.toSorted((a, b) => a.optionId - b.optionId);
  }
}

function asRequested(basket: BasketLine[]): BasketLine[] {
  const itemOf = ({ pointer }: BasketLine) => Number(pointer.slice('/items/'.length));
  return basket.toSorted((a, b) => itemOf(a) - itemOf(b));
}
