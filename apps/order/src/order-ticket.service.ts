import { idempotency, ProblemError, ticketErrors, ticketRequest, Tickets } from '@firstcome/http';
import type { Answer, Ticket } from '@firstcome/http';
import { Database } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { CreateOrderDto } from './order.dto.js';
import { OrderService } from './order.service.js';
import type { Purchase } from './order.service.js';
import { basketOf } from './stock/basket.js';
import { Strategies } from './stock/strategies.js';

/** What is kept of an order. */
export interface AskedOrder {
  order: CreateOrderDto;
  pay: boolean;
  /** X-Stock-Strategy, where it was sent. */
  strategy?: string;
}

// Baskets overlap in any way: only one line of all orders is fair for every option.
const line = 'orders';
// So that no user alone fills the line.
const mostOfUser = 20;
const mostOfUserWait = `${mostOfUser} of your orders wait already. Nothing was done: repeat the request after the time in Retry-After.`;

/** Orders while the lock's backend is away (LOCK_BACKEND_DOWN=defer): accepted now, placed in the order of their arrival. */
@Injectable()
export class OrderTicketService {
  constructor(
    private readonly database: Database,
    private readonly orders: OrderService,
    private readonly strategies: Strategies,
    private readonly tickets: Tickets,
  ) {}

  create(purchase: Purchase): Promise<Answer> {
    const { order, strategy } = purchase;
    const now = () => this.orders.create(purchase);
    const later = () => {
      // What no wait will mend.
      this.strategies.choose(strategy);
      basketOf(order.items);
      return this.defer(purchase);
    };
    return this.tickets.nowOrLater(line, now, later);
  }

  /**
   * One outcome for each, in this order, or up to the first that meets contention. What concerns one order alone (the coupon
   * service does not answer, its coupon is on the move) lets those behind it go first.
   */
  async perform(tickets: Ticket<AskedOrder>[]): Promise<(Answer | Error)[]> {
    const outcomes: (Answer | Error)[] = [];
    for (const ticket of tickets) {
      const purchase = { ...ticket.asked, userId: ticket.userId, request: ticketRequest(ticket) };
      const outcome = await this.orders.create(purchase).catch((error: Error) => error);
      outcomes.push(outcome);
      if (outcome instanceof Error && !(outcome instanceof ProblemError)) break;
    }
    return outcomes;
  }

  private defer(purchase: Purchase): Promise<Answer> {
    return this.database.transaction((tx) => idempotency.once(tx, purchase.request, () => this.accept(tx, purchase)));
  }

  private async accept(tx: Transaction, { userId, order, pay, strategy, request }: Purchase): Promise<Answer> {
    const waiting = await this.tickets.waitingOf(tx, line, userId);
    if (waiting.length >= mostOfUser) throw ticketErrors.LOCK_QUEUE_FULL({ detail: mostOfUserWait });
    const asked: AskedOrder = { order, pay, strategy };
    return this.tickets.add(tx, { line, userId, asked, traceId: request.traceId });
  }
}
