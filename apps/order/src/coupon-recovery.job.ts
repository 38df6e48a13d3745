import { DistributedLock } from '@firstcome/lock/nest';
import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { CouponUseRepository } from './coupon-use.repository.js';
import { CouponUseService } from './coupon-use.service.js';

const everyMs = 1000;
const batchLimit = 100;
const postponeMs = 5_000;

/** Brings to an end what a process that died, or a coupon service that was away, has left in between. */
@Injectable()
export class CouponRecoveryJob {
  private readonly logger = new Logger('CouponRecovery');

  constructor(
    private readonly uses: CouponUseRepository,
    private readonly service: CouponUseService,
  ) {}

  @Interval(everyMs)
  async tick(): Promise<void> {
    await this.run().catch((error: Error) => this.logger.warn(`Not run, the next tick tries again: ${error.message}`));
  }

  /** Stops at the first that fails, which then lets others go first: a service that is away is not asked a hundred times. */
  @DistributedLock({ key: 'job:coupon-recovery', waitMs: 0, skipWhenBusy: true })
  async run(): Promise<void> {
    await this.service.dropStaleHalves();
    for (const use of await this.uses.due(batchLimit)) {
      try {
        await this.service.recover(use);
      } catch (error) {
        await this.uses.postpone(use.orderId, postponeMs);
        // What the coupon service said, not what a user would be told.
        const { message } = ((error as Error).cause ?? error) as Error;
        const doing = use.twoPhase ? `${use.state}, ${use.twoPhase}` : use.state;
        this.logger.warn(`The coupon of order ${use.orderId} is ${doing} still: ${message}`);
        return;
      }
    }
  }
}
