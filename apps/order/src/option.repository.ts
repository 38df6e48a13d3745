import { Database, sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';

/** Far below what a bigint holds, so that a refund that brings stock back can never fail for being too much. */
export const stockLimit = 1_000_000_000_000;

// The adjustment and its note are one statement; the guard keeps what orders have reserved on the shelf.
const adjustStatement = sql(
  'option-adjust',
  `with adjusted as (
     update options
        set on_hand = on_hand + $2
      where id = $1
        and on_hand + $2 between reserved and $5
     returning id, on_hand - reserved as available
   ), noted as (
     insert into stock_adjustments (option_id, delta, reason, admin_id) select id, $2, $3, $4 from adjusted
   )
   select available from adjusted`,
);

const stockStatement = sql('option-stock', 'select on_hand as "onHand", reserved from options where id = $1');

// The rows are locked in ascending order first: an UPDATE alone locks them in whatever order its plan joins them.
const takeStatement = sql(
  'option-take',
  `with item as (
     select option_id, quantity from order_items where order_id = $1
   ), locked as (
     select id from options where id in (select option_id from item) order by id for no key update
   )
   update options o
      set on_hand = o.on_hand - item.quantity, reserved = o.reserved - item.quantity
     from locked join item on item.option_id = locked.id
    where o.id = locked.id
      and o.reserved >= item.quantity
   returning o.id`,
);

@Injectable()
export class OptionRepository {
  constructor(private readonly database: Database) {}

  /** What is available after it, or nothing: then stock() says why. */
  async adjust(optionId: number, delta: number, reason: string, adminId: string): Promise<number | undefined> {
    const values = [optionId, delta, reason, adminId, stockLimit];
    const [row] = await this.database.query<{ available: number }>(adjustStatement, values);
    return row?.available;
  }

  async stock(optionId: number): Promise<{ onHand: number; reserved: number } | undefined> {
    const [row] = await this.database.query<{ onHand: number; reserved: number }>(stockStatement, [optionId]);
    return row;
  }

  /** What the order has reserved leaves the shelf. Answers of how many options. */
  async takeReserved(tx: Transaction, orderId: string): Promise<number> {
    return (await tx.query(takeStatement, [orderId])).length;
  }
}
