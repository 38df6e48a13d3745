import { sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { safetyNetTrip } from './counters.js';
import { optionIdsOf } from './reserve.js';
import { refuseShortfall } from './shortfall.js';
import type { BasketLine, StockedOption, StockStrategy } from './strategy.js';

// `locked` has read the rows as they stand once their locks are got, and `enough` has counted all of them, before the
// UPDATE sees its first row: so every line is reserved, or none.
const statement = sql(
  'stock-atomic',
  `with line as (
     select * from unnest($1::bigint[], $2::bigint[]) as line (option_id, quantity)
   ), locked as materialized (
     select id, name, price, on_hand - reserved as available
       from options where id = any($1::bigint[]) order by id for no key update
   ), enough as materialized (
     select count(*) = cardinality($1::bigint[]) as yes
       from locked join line on line.option_id = locked.id
      where locked.available >= line.quantity
   ), taken as (
     update options o
        set reserved = o.reserved + line.quantity, version = o.version + 1
       from enough, line
      where enough.yes and o.id = line.option_id
     returning o.id
   )
   select id as "optionId", name, price, available, (select count(*)::int from taken) as taken
     from locked order by id`,
);

/** One statement and one round trip: locks in ascending order, counts, and takes all or none. */
@Injectable()
export class AtomicStock implements StockStrategy {
  readonly name = 'atomic';

  inTurn<R>(_basket: BasketLine[], transaction: () => Promise<R>): Promise<R> {
    return transaction();
  }

  async reserve(tx: Transaction, basket: BasketLine[]): Promise<StockedOption[]> {
    const quantities = basket.map((line) => line.quantity);
    const rows = await tx.query<StockedOption & { taken: number }>(statement, [optionIdsOf(basket), quantities]);
    refuseShortfall(basket, rows);
    if (rows[0]?.taken !== basket.length) throw safetyNetTrip(this.name);
    return rows;
  }
}
