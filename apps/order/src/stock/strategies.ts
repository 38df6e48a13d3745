import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '../config.js';
import type { Config } from '../config.js';
import { optionErrors } from '../option.errors.js';
import { AtomicStock } from './atomic.js';
import { NoStock } from './none.js';
import { OptimisticStock } from './optimistic.js';
import { PubsubStock } from './pubsub.js';
import { SortedStock } from './sorted.js';
import { SpinStock } from './spin.js';
import type { StockStrategy, StockStrategyName } from './strategy.js';
import { UnsortedStock } from './unsorted.js';

/** name -> strategy: the one of the configuration, or in the lab the one that the request names. */
@Injectable()
export class Strategies {
  private readonly byName: Map<string, StockStrategy>;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    sorted: SortedStock,
    optimistic: OptimisticStock,
    atomic: AtomicStock,
    spin: SpinStock,
    pubsub: PubsubStock,
    unsorted: UnsortedStock,
    none: NoStock,
  ) {
    const all: Record<StockStrategyName, StockStrategy> = {
      sorted,
      optimistic,
      atomic,
      spin,
      pubsub,
      unsorted,
      none,
    };
    this.byName = new Map(Object.entries(all));
  }

  choose(header: string | undefined): StockStrategy {
    const asked = this.config.lab ? header : undefined;
    const strategy = this.byName.get(asked ?? this.config.stockStrategy);
    if (!strategy) {
      throw optionErrors.STRATEGY_UNKNOWN({
        detail: `X-Stock-Strategy must be one of ${[...this.byName.keys()].join(', ')}.`,
      });
    }
    return strategy;
  }
}
