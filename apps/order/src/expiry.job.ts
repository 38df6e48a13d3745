import { DistributedLock } from '@firstcome/lock/nest';
import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ClosingService } from './closing.service.js';
import { OrderRepository } from './order.repository.js';

const everyMs = 1000;
const batchLimit = 200;

/** Unpaid orders past their time give their stock back. Runs on one instance at a time; the others do not even wait. */
@Injectable()
export class ExpiryJob {
  private readonly logger = new Logger('OrderExpiry');

  constructor(
    private readonly orders: OrderRepository,
    private readonly closings: ClosingService,
  ) {}

  @Interval(everyMs)
  async tick(): Promise<void> {
    await this.run().catch((error: Error) => this.logger.warn(`Not run, the next tick tries again: ${error.message}`));
  }

  /** How many orders it ended. Each is a transaction of its own: one that cannot be ended now does not keep the others. */
  @DistributedLock({ key: 'job:order-expiry', waitMs: 0, skipWhenBusy: true })
  async run(): Promise<number> {
    let expired = 0;
    for (const id of await this.orders.overdue(batchLimit)) {
      try {
        if (await this.closings.expire(id)) expired += 1;
      } catch (error) {
        this.logger.warn(`Order ${id} is not expired yet, the next tick tries again: ${(error as Error).message}`);
      }
    }
    return expired;
  }
}
