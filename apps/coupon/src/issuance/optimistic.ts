import { setTimeout as pause } from 'node:timers/promises';
import { ProblemError } from '@firstcome/http';
import type { Answer } from '@firstcome/http';
import { databaseErrors } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '../config.js';
import type { Config } from '../config.js';
import { CouponRepository } from '../coupon.repository.js';
import type { Proof } from '../coupon.repository.js';
import { CriticalSection, VersionChanged } from './critical-section.js';
import { optimisticRetries } from './metrics.js';
import { refusal } from './refusal.js';
import type { Grab, IssueStrategy } from './strategy.js';
import { msLeft } from './strategy.js';

const maxAttempts = 10;
const firstPauseMs = 2;
const longestPauseMs = 200;

/** Looks, then writes only if the coupon is still the one it looked at; else it begins again, a little later. */
@Injectable()
export class OptimisticIssue implements IssueStrategy {
  constructor(
    private readonly section: CriticalSection,
    private readonly coupons: CouponRepository,
    @Inject(CONFIG) private readonly config: Pick<Config, 'backoff'>,
  ) {}

  async issue(grab: Grab): Promise<Answer> {
    const look = (tx: Transaction) => this.look(tx, grab);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.section.issue(grab, { strategy: 'optimistic', enter: look });
      } catch (error) {
        if (!(error instanceof VersionChanged)) throw error;
        // Full jitter: those who lost together must not come back together.
        const pauseMs = this.config.backoff * Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** attempt);
        if (attempt === maxAttempts || pauseMs >= msLeft(grab))
          throw new ProblemError(databaseErrors.CONCURRENT_UPDATE);
        optimisticRetries.inc({ strategy: 'optimistic' });
        await pause(pauseMs);
      }
    }
  }

  private async look(tx: Transaction, { couponId, userId }: Grab): Promise<Proof> {
    const standing = await this.coupons.standing(tx, couponId, userId);
    const no = refusal(standing);
    if (no) throw no;
    return { version: standing!.version };
  }
}
