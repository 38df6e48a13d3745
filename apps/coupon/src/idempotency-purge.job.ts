import { purgeAnswers } from '@firstcome/http';
import { DistributedLock } from '@firstcome/lock/nest';
import { Database } from '@firstcome/postgres';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { CONFIG } from './config.js';
import type { Config } from './config.js';

const everyMs = 60_000;

/** Keys, with their answers, and tickets that are done go when they are older than IDEMPOTENCY_TTL_MS. */
@Injectable()
export class IdempotencyPurgeJob {
  private readonly logger = new Logger('IdempotencyPurge');

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
  ) {}

  @Interval(everyMs)
  async tick(): Promise<void> {
    await this.run().catch((error: Error) => this.logger.warn(`Not run, the next tick tries again: ${error.message}`));
  }

  /** On one instance at a time; the others do not even wait. */
  @DistributedLock({ key: 'job:coupon-idempotency-purge', waitMs: 0, skipWhenBusy: true })
  run(): Promise<{ keys: number; tickets: number }> {
    return purgeAnswers(this.database, this.config.idempotencyTtlMs);
  }
}
