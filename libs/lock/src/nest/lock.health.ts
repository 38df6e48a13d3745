import { LockService } from './lock.service.js';

export interface LockHealth {
  [name: string]: { status: 'up' | 'down'; message?: string };
}

/** Asks the store one harmless question. `isHealthy` for @nestjs/terminus, `check` for whoever wants an exception. */
export class LockHealthIndicator {
  constructor(private readonly locks: LockService) {}

  async check(): Promise<void> {
    await this.locks.isLocked('health');
  }

  async isHealthy(name = 'lock'): Promise<LockHealth> {
    try {
      await this.check();
      return { [name]: { status: 'up' } };
    } catch (error) {
      return { [name]: { status: 'down', message: error instanceof Error ? error.message : String(error) } };
    }
  }
}
