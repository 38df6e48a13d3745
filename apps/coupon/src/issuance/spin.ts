import type { Answer } from '@firstcome/http';
import { LockService } from '@firstcome/lock/nest';
import { Injectable } from '@nestjs/common';
import { CriticalSection } from './critical-section.js';
import type { Grab, IssueStrategy } from './strategy.js';
import { underLock } from './under-lock.js';

/** A Redis lock that is asked for again every 50 ms, give or take: simple, and up to that much late. */
@Injectable()
export class SpinIssue implements IssueStrategy {
  constructor(
    private readonly locks: LockService,
    private readonly section: CriticalSection,
  ) {}

  issue(grab: Grab): Promise<Answer> {
    return underLock(this.locks, this.section, grab, { strategy: 'spin', waiting: 'spin' });
  }
}
