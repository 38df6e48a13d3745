import type { Answer } from '@firstcome/http';
import { InjectLocks, LockService } from '@firstcome/lock/nest';
import { Injectable } from '@nestjs/common';
import { CriticalSection } from './critical-section.js';
import type { Grab, IssueStrategy } from './strategy.js';
import { underLock } from './under-lock.js';

/** A lock on the majority of independent Redis servers: it outlives any one of them. */
@Injectable()
export class RedlockIssue implements IssueStrategy {
  constructor(
    @InjectLocks('redlock') private readonly locks: LockService,
    private readonly section: CriticalSection,
  ) {}

  issue(grab: Grab): Promise<Answer> {
    return underLock(this.locks, this.section, grab, { strategy: 'redlock', waiting: 'pubsub' });
  }
}
