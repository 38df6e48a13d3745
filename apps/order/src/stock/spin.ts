import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { OptionLocks } from './option-locks.js';
import type { BasketLine, StockedOption, StockStrategy, Turn } from './strategy.js';

/** One basket of an option at a time, over all instances: who waits asks again every 50 ms or so. */
@Injectable()
export class SpinStock implements StockStrategy {
  readonly name = 'spin';

  constructor(private readonly locks: OptionLocks) {}

  inTurn<R>(basket: BasketLine[], transaction: (turn: Turn) => Promise<R>): Promise<R> {
    return this.locks.inTurn('spin', basket, transaction);
  }

  reserve(tx: Transaction, basket: BasketLine[], turn?: Turn): Promise<StockedOption[]> {
    return this.locks.reserve(tx, basket, this.name, turn);
  }
}
