import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '../config.js';
import type { Config } from '../config.js';
import { couponErrors } from '../coupon.errors.js';
import { AtomicIssue } from './atomic.js';
import { PubsubIssue } from './pubsub.js';
import type { IssueStrategy } from './strategy.js';

/** name -> strategy: the one of the configuration, or in the lab the one that the request names. */
@Injectable()
export class Strategies {
  private readonly byName: Map<string, IssueStrategy>;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    atomic: AtomicIssue,
    pubsub: PubsubIssue,
  ) {
    this.byName = new Map<string, IssueStrategy>(Object.entries({ atomic, pubsub }));
  }

  choose(header: string | undefined): IssueStrategy {
    const asked = this.config.lab ? header : undefined;
    const strategy = this.byName.get(asked ?? this.config.issueStrategy);
    if (!strategy) {
      throw couponErrors.STRATEGY_UNKNOWN({
        detail: `X-Issue-Strategy must be one of ${[...this.byName.keys()].join(', ')}.`,
      });
    }
    return strategy;
  }
}
