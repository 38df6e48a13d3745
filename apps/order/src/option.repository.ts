import { Database, sql } from '@firstcome/postgres';
import type { Statement, Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';

/** Far below what a bigint holds, so that a refund that brings stock back can never fail for being too much. */
export const stockLimit = 1_000_000_000_000;

// The adjustment and its note are one statement; the guard keeps what orders have reserved on the shelf.
const adjustStatement = sql(
  'option-adjust',
  `with adjusted as (
     update options
        set on_hand = on_hand + $2, version = version + 1
      where id = $1
        and on_hand + $2 between reserved and $5
     returning id, on_hand - reserved as available
   ), noted as (
     insert into stock_adjustments (option_id, delta, reason, admin_id) select id, $2, $3, $4 from adjusted
   )
   select available from adjusted`,
);

const pricesStatement = sql(
  'option-prices',
  'select id as "optionId", price from options where id = any($1::bigint[]) order by id',
);

const stockStatement = sql('option-stock', 'select on_hand as "onHand", reserved from options where id = $1');

// What becomes of an order's pieces. The rows are locked in ascending order first: an UPDATE alone locks them in whatever
// order its plan joins them.
const ofOrder = (name: string, change: string, guard = 'true') =>
  sql(
    name,
    `with item as (
       select option_id, quantity from order_items where order_id = $1
     ), locked as (
       select id from options where id in (select option_id from item) order by id for no key update
     )
     update options o
        set ${change}, version = o.version + 1
       from locked join item on item.option_id = locked.id
      where o.id = locked.id and ${guard}
     returning o.id`,
  );
const reservedEnough = 'o.reserved >= item.quantity';
const takeStatement = ofOrder(
  'option-take',
  'on_hand = o.on_hand - item.quantity, reserved = o.reserved - item.quantity',
  reservedEnough,
);
const releaseStatement = ofOrder('option-release', 'reserved = o.reserved - item.quantity', reservedEnough);
const takeBackStatement = ofOrder('option-take-back', 'on_hand = o.on_hand + item.quantity');

@Injectable()
export class OptionRepository {
  constructor(private readonly database: Database) {}

  /** What is available after it, or nothing: then stock() says why. */
  async adjust(optionId: number, delta: number, reason: string, adminId: string): Promise<number | undefined> {
    const values = [optionId, delta, reason, adminId, stockLimit];
    const [row] = await this.database.query<{ available: number }>(adjustStatement, values);
    return row?.available;
  }

  /** Of those that there are, ascending. */
  prices(optionIds: number[]): Promise<{ optionId: number; price: number }[]> {
    return this.database.query<{ optionId: number; price: number }>(pricesStatement, [optionIds]);
  }

  async stock(optionId: number): Promise<{ onHand: number; reserved: number } | undefined> {
    const [row] = await this.database.query<{ onHand: number; reserved: number }>(stockStatement, [optionId]);
    return row;
  }

  /** What the order has reserved leaves the shelf: all of its `options`. */
  takeReserved(tx: Transaction, orderId: string, options: number): Promise<void> {
    return this.move(tx, takeStatement, orderId, options);
  }

  /** What the order has reserved is for others again. */
  release(tx: Transaction, orderId: string, options: number): Promise<void> {
    return this.move(tx, releaseStatement, orderId, options);
  }

  /** What the order was paid for comes back onto the shelf. */
  takeBack(tx: Transaction, orderId: string, options: number): Promise<void> {
    return this.move(tx, takeBackStatement, orderId, options);
  }

  private async move(tx: Transaction, statement: Statement, orderId: string, options: number): Promise<void> {
    const moved = await tx.query(statement, [orderId]);
    if (moved.length !== options)
      throw new Error(`order ${orderId} has ${options} options, ${statement.name} moved ${moved.length}`);
  }
}
