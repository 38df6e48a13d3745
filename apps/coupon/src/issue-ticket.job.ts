import { Tickets, TicketWorker } from '@firstcome/http';
import { lockProblem } from '@firstcome/lock/nest';
import { databaseProblem } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { IssueTicketService } from './issue-ticket.service.js';
import type { AskedIssue } from './issue-ticket.service.js';

const everyMs = 500;
// As many as one batch of the lock takes.
const atOnce = 200;

/** Issues what was accepted while the lock's backend was away. On every instance: a line is one worker's at a time. */
@Injectable()
export class IssueTicketJob implements OnModuleDestroy {
  readonly worker: TicketWorker<AskedIssue>;

  constructor(tickets: Tickets, service: IssueTicketService) {
    const perform = service.perform.bind(service);
    this.worker = new TicketWorker(tickets, { atOnce, perform, translators: [databaseProblem, lockProblem] });
  }

  @Interval(everyMs)
  tick(): Promise<void> {
    return this.worker.tick();
  }

  onModuleDestroy(): void {
    this.worker.stop();
  }
}
