import { setTimeout as pause } from 'node:timers/promises';
import { sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { optionErrors } from '../option.errors.js';
import { optimisticRetries } from './counters.js';
import { optionIdsOf } from './reserve.js';
import { refuseShortfall } from './shortfall.js';
import type { BasketLine, StockedOption, StockStrategy } from './strategy.js';

const attemptsLimit = 12;
const firstPauseMs = 5;
const longestPauseMs = 200;

const findStatement = sql(
  'stock-optimistic-find',
  `select id as "optionId", name, price, on_hand - reserved as available, version
     from options where id = any($1::bigint[]) order by id`,
);

// The version alone decides; the CHECK stands behind it. The CTE only keeps writers of several rows from deadlocking.
const reserveStatement = sql(
  'stock-optimistic-reserve',
  `with locked as (
     select id from options where id = any($1::bigint[]) order by id for no key update
   )
   update options o
      set reserved = o.reserved + line.quantity, version = o.version + 1
     from locked
     join unnest($1::bigint[], $2::bigint[], $3::bigint[]) as line (option_id, quantity, version)
       on line.option_id = locked.id
    where o.id = locked.id
      and o.version = line.version
   returning o.id`,
);

class VersionChanged extends Error {}

/** No lock while it decides: what was read must still be there when it is written, or all of it is done again. */
@Injectable()
export class OptimisticStock implements StockStrategy {
  readonly name = 'optimistic';

  /** Each attempt is a transaction of its own: in the one that failed, every repeat would find the same old row. */
  async inTurn<R>(_basket: BasketLine[], transaction: () => Promise<R>): Promise<R> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await transaction();
      } catch (error) {
        if (!(error instanceof VersionChanged)) throw error;
        if (attempt === attemptsLimit) throw optionErrors.CONCURRENT_UPDATE({ cause: error });
      }
      optimisticRetries.inc({ strategy: this.name });
      await pause(Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** attempt));
    }
  }

  async reserve(tx: Transaction, basket: BasketLine[]): Promise<StockedOption[]> {
    const optionIds = optionIdsOf(basket);
    const found = await tx.query<StockedOption & { version: number }>(findStatement, [optionIds]);
    refuseShortfall(basket, found);
    const quantities = basket.map((line) => line.quantity);
    const versions = found.map((option) => option.version);
    const reserved = await tx.query(reserveStatement, [optionIds, quantities, versions]);
    if (reserved.length !== basket.length) throw new VersionChanged();
    return found;
  }
}
