import type { Answer } from '@firstcome/http';
import { Injectable } from '@nestjs/common';
import { CriticalSection } from './critical-section.js';
import type { Grab, IssueStrategy } from './strategy.js';

/** No turn at all: one conditional statement, and PostgreSQL's lock on the coupon's row keeps the order. */
@Injectable()
export class AtomicIssue implements IssueStrategy {
  constructor(private readonly section: CriticalSection) {}

  issue(grab: Grab): Promise<Answer> {
    return this.section.issue(grab);
  }
}
