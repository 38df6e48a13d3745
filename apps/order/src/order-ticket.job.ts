import { Tickets, TicketWorker } from '@firstcome/http';
import { lockProblem } from '@firstcome/lock/nest';
import { databaseProblem } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { OrderTicketService } from './order-ticket.service.js';
import type { AskedOrder } from './order-ticket.service.js';

const everyMs = 500;
// One after the other, each with its own transaction: as many as are done well before their claim ends.
const atOnce = 50;

/** Places what was accepted while the lock's backend was away. On every instance: the line is one worker's at a time. */
@Injectable()
export class OrderTicketJob implements OnModuleDestroy {
  readonly worker: TicketWorker<AskedOrder>;

  constructor(tickets: Tickets, service: OrderTicketService) {
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
