import type { Answer } from '@firstcome/http';
import { LockService } from '@firstcome/lock/nest';
import { Injectable } from '@nestjs/common';
import { CriticalSection } from './critical-section.js';
import type { Grab, IssueStrategy } from './strategy.js';
import { underLock } from './under-lock.js';

/** A Redis lock whose release is published: who waits sleeps until then, and holds no connection meanwhile. */
@Injectable()
export class PubsubIssue implements IssueStrategy {
  constructor(
    private readonly locks: LockService,
    private readonly section: CriticalSection,
  ) {}

  issue(grab: Grab): Promise<Answer> {
    return underLock(this.locks, this.section, grab, { strategy: 'pubsub', waiting: 'pubsub' });
  }
}
