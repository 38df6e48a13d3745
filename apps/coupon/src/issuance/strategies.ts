import { Inject, Injectable, Optional } from '@nestjs/common';
import { CONFIG } from '../config.js';
import type { Config } from '../config.js';
import { couponErrors } from '../coupon.errors.js';
import { AdaptiveIssue } from './adaptive.js';
import { AdvisoryIssue } from './advisory.js';
import { AtomicIssue } from './atomic.js';
import { BatchedIssue } from './batched.js';
import { NoneIssue } from './none.js';
import { OptimisticIssue } from './optimistic.js';
import { PessimisticIssue } from './pessimistic.js';
import { PubsubIssue } from './pubsub.js';
import { QueueIssue } from './queue.js';
import { RedlockIssue } from './redlock.js';
import { SpinIssue } from './spin.js';
import type { IssueStrategy } from './strategy.js';

/** name -> strategy: the one of the configuration, or in the lab the one that the request names. */
@Injectable()
export class Strategies {
  readonly byName: Map<string, IssueStrategy>;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    batched: BatchedIssue,
    atomic: AtomicIssue,
    optimistic: OptimisticIssue,
    pessimistic: PessimisticIssue,
    advisory: AdvisoryIssue,
    spin: SpinIssue,
    adaptive: AdaptiveIssue,
    pubsub: PubsubIssue,
    queue: QueueIssue,
    /** Only with REDLOCK_URLS. */
    @Optional() redlock?: RedlockIssue,
    /** Only in the lab. */
    @Optional() none?: NoneIssue,
  ) {
    const all = { batched, atomic, optimistic, pessimistic, advisory, spin, adaptive, pubsub, queue, redlock, none };
    this.byName = new Map(Object.entries<IssueStrategy | undefined>(all).flatMap(there));
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

const there = ([name, strategy]: [string, IssueStrategy | undefined]): [string, IssueStrategy][] =>
  strategy ? [[name, strategy]] : [];
