import type { Lease } from '@firstcome/lock';
import type { Transaction } from '@firstcome/postgres';
import type { NewOrder } from '../order.repository.js';
import type { OrderView } from '../order.view.js';

/** What an order wants of one option. A basket names each option once and is sorted by option, ascending. */
export interface BasketLine {
  optionId: number;
  quantity: number;
  /** Where the request named it first, for the pointers of a refusal. */
  pointer: string;
}

/** An option as the strategy found it in the order's transaction. */
export interface StockedOption {
  optionId: number;
  name: string;
  price: number;
  available: number;
}

/** A turn that was taken outside the database: the fence goes into the rows, and the lease is looked at before COMMIT. */
export type Turn = Pick<Lease, 'key' | 'fence' | 'assertHeld'>;

/**
 * One way of keeping order among baskets that want the same options.
 * - `reserve` reserves every line or none; its refusals come from refuseShortfall(), the same under every strategy. Its
 *   answer is sorted like the basket.
 * - A lock outside the database is taken by `inTurn` before the transaction begins and released after its commit: that is
 *   why the whole transaction is its argument. It may also run the transaction again, after it was rolled back.
 * - Whatever a strategy does, the CHECK on the option has the last word.
 */
export interface StockStrategy {
  readonly name: StockStrategyName;
  inTurn<R>(basket: BasketLine[], transaction: (turn?: Turn) => Promise<R>): Promise<R>;
  reserve(tx: Transaction, basket: BasketLine[], turn?: Turn): Promise<StockedOption[]>;
  /** Only of `none`: its orders are kept apart from those that are guarded, and nothing else knows them. */
  keep?(tx: Transaction, order: NewOrder, paid: boolean): Promise<OrderView>;
}

/** The default first. */
export const stockStrategyNames = ['sorted', 'optimistic', 'atomic', 'spin', 'pubsub'] as const;
/** To be seen going wrong; only with LAB=1. */
export const labStrategyNames = ['none', 'unsorted'] as const;
export type StockStrategyName = (typeof stockStrategyNames)[number] | (typeof labStrategyNames)[number];
