import { LockWaitTimeoutError, type Locks } from '@firstcome/lock';
import type { Desk } from './desk.js';

export class OrdersByHand {
  constructor(
    private readonly locks: Locks,
    private readonly desk: Desk,
  ) {}

  async place(user: string, product: string): Promise<string> {
    const lock = this.locks.obtain(`order:${user}:${product}`);
    const lease = await lock.acquire({ waitMs: 2000 }).catch((error: unknown) => {
      if (error instanceof LockWaitTimeoutError)
        error.failureMessage = 'Your last order of this is still being placed.';
      throw error;
    });
    try {
      return await this.desk.placeOrder(user, product, lease);
    } finally {
      await lease.release();
    }
  }
}
