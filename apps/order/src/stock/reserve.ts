import { StaleFenceError } from '@firstcome/lock';
import { sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { safetyNetTrip } from './counters.js';
import type { BasketLine, StockedOption, StockStrategyName, Turn } from './strategy.js';

const findStatement = sql(
  'stock-find',
  `select id as "optionId", name, price, on_hand - reserved as available
     from options where id = any($1::bigint[]) order by id`,
);

// Relative and guarded, so that it is right whatever was read before. The rows are locked in ascending order first: an
// UPDATE alone locks them in whatever order its plan joins them.
export const reserveStatement = sql(
  'stock-reserve',
  `with locked as (
     select id from options where id = any($1::bigint[]) order by id for no key update
   )
   update options o
      set reserved = o.reserved + line.quantity, version = o.version + 1, fence = greatest(o.fence, $3::bigint)
     from locked join unnest($1::bigint[], $2::bigint[]) as line (option_id, quantity) on line.option_id = locked.id
    where o.id = locked.id
      and o.on_hand - o.reserved >= line.quantity
      and ($3::bigint is null or o.fence <= $3::bigint)
   returning o.id`,
);

const fenceStatement = sql('stock-fence', 'select max(fence) as fence from options where id = any($1::bigint[])');

export const optionIdsOf = (basket: BasketLine[]): number[] => basket.map((line) => line.optionId);

/** The options as they stand, ascending. No lock: whoever decides on it has the turn already, or checks again. */
export function findOptions(tx: Transaction, basket: BasketLine[]): Promise<StockedOption[]> {
  return tx.query<StockedOption>(findStatement, [optionIdsOf(basket)]);
}

/** What the strategy has just seen to be there. All lines, or it throws and the transaction is rolled back. */
export async function reservePromised(
  tx: Transaction,
  basket: BasketLine[],
  strategy: StockStrategyName,
  turn?: Turn,
): Promise<void> {
  const optionIds = optionIdsOf(basket);
  const quantities = basket.map((line) => line.quantity);
  const reserved = await tx.query(reserveStatement, [optionIds, quantities, turn?.fence ?? null]);
  if (reserved.length === basket.length) return;
  if (turn) {
    const [row] = await tx.query<{ fence: number }>(fenceStatement, [optionIds]);
    if (row && row.fence > turn.fence) throw new StaleFenceError(turn.fence, row.fence, { key: turn.key });
  }
  throw safetyNetTrip(strategy);
}
