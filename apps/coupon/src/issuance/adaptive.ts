import type { Answer } from '@firstcome/http';
import { LockService } from '@firstcome/lock/nest';
import { Injectable } from '@nestjs/common';
import { CriticalSection } from './critical-section.js';
import type { Grab, IssueStrategy } from './strategy.js';
import { underLock } from './under-lock.js';

/** A Redis lock that is asked for again soon at first, then ever more rarely: between 5 and 200 ms. */
@Injectable()
export class AdaptiveIssue implements IssueStrategy {
  constructor(
    private readonly locks: LockService,
    private readonly section: CriticalSection,
  ) {}

  issue(grab: Grab): Promise<Answer> {
    return underLock(this.locks, this.section, grab, { strategy: 'adaptive', waiting: 'adaptive' });
  }
}
