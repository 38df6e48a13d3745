import type { Transaction } from '@firstcome/postgres';

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

/**
 * One way of keeping order among baskets that want the same options.
 * - `reserve` reserves every line or none; its refusals come from refuseShortfall(), the same under every strategy. Its
 *   answer is sorted like the basket.
 * - A lock outside the database is taken by `inTurn` before the transaction begins and released after its commit: that is
 *   why the whole transaction is its argument.
 * - Whatever a strategy does, the CHECK on the option has the last word.
 */
export interface StockStrategy {
  inTurn<R>(basket: BasketLine[], transaction: () => Promise<R>): Promise<R>;
  reserve(tx: Transaction, basket: BasketLine[]): Promise<StockedOption[]>;
}

export const stockStrategyNames = ['sorted'] as const;
export type StockStrategyName = (typeof stockStrategyNames)[number];
