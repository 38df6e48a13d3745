import type { Answer } from '@firstcome/http';
import { LockService } from '@firstcome/lock/nest';
import { Injectable } from '@nestjs/common';
import { CriticalSection } from './critical-section.js';
import type { Grab, IssueStrategy } from './strategy.js';
import { underLock } from './under-lock.js';

/** A Redis lock with a line that all instances share: first come, first served, and the release hands it on. */
@Injectable()
export class QueueIssue implements IssueStrategy {
  constructor(
    private readonly locks: LockService,
    private readonly section: CriticalSection,
  ) {}

  issue(grab: Grab): Promise<Answer> {
    return underLock(this.locks, this.section, grab, { strategy: 'queue', waiting: 'queue' });
  }
}
