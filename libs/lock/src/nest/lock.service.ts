import type { BeforeApplicationShutdown } from '@nestjs/common';
import { Locks } from '../locks.js';

/** The client as a provider: the same methods, and an end that comes with the application's. */
export class LockService extends Locks implements BeforeApplicationShutdown {
  /** Before connections are closed: waiters are refused, holders finish within the grace, the rest is released. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.close();
  }
}
