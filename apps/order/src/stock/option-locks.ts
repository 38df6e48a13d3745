import { timing } from '@firstcome/http';
import type { StrategyName } from '@firstcome/lock';
import { LockService } from '@firstcome/lock/nest';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { findOptions, reservePromised } from './reserve.js';
import { refuseShortfall } from './shortfall.js';
import type { BasketLine, StockedOption, StockStrategyName, Turn } from './strategy.js';

/** The turn of `spin` and `pubsub`: all options of the basket locked at once, in Redis, before a connection is taken. */
@Injectable()
export class OptionLocks {
  constructor(private readonly locks: LockService) {}

  async inTurn<R>(strategy: StrategyName, basket: BasketLine[], transaction: (turn: Turn) => Promise<R>): Promise<R> {
    const waited = timing.start('lock');
    const keys = basket.map(({ optionId }) => `option:${optionId}`);
    try {
      return await this.locks.withLock(
        keys,
        async (lease) => {
          waited();
          const result = await timing.measure('hold', () => transaction(lease));
          // Committed under a fence that the rows accepted: losing the lock from here on changes nothing about it.
          lease.settled();
          return result;
        },
        { strategy },
      );
    } finally {
      waited();
    }
  }

  /** The lock keeps others away while this looks; the fence in the rows keeps away a holder whose time had run out. */
  async reserve(tx: Transaction, basket: BasketLine[], strategy: StockStrategyName, turn?: Turn) {
    const options: StockedOption[] = await findOptions(tx, basket);
    refuseShortfall(basket, options);
    await reservePromised(tx, basket, strategy, turn);
    return options;
  }
}
