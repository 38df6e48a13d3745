import { accepted, idempotency, ticketRequest, Tickets } from '@firstcome/http';
import type { Answer, Ticket } from '@firstcome/http';
import { Database } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from './config.js';
import type { Config } from './config.js';
import { IssueRepository } from './issuance/issue.repository.js';
import { refusal } from './issuance/refusal.js';
import { Strategies } from './issuance/strategies.js';
import type { Grab } from './issuance/strategy.js';

/** What is kept of a grab. */
export interface AskedIssue {
  couponId: number;
  /** X-Issue-Strategy, where it was sent. */
  strategy?: string;
}

// Shorter than a request waits: the tickets behind wait too, and this one is tried again.
const turnMs = 5_000;

/** Grabs while the lock's backend is away (LOCK_BACKEND_DOWN=defer): accepted now, issued in the order of their arrival. */
@Injectable()
export class IssueTicketService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly coupons: IssueRepository,
    private readonly strategies: Strategies,
    private readonly tickets: Tickets,
  ) {}

  nowOrLater(grab: Grab, strategy: string | undefined, now: () => Promise<Answer>): Promise<Answer> {
    return this.tickets.nowOrLater(lineOf(grab.couponId), now, () => this.defer(grab, strategy));
  }

  /** One outcome for each, in this order, or up to the first that is to be tried again. */
  async perform(tickets: Ticket<AskedIssue>[]): Promise<(Answer | Error)[]> {
    // Handed in together, they are served in this order by one hold and one transaction.
    const batched = this.config.issueStrategy === 'batched' && tickets.every(({ asked }) => !asked.strategy);
    if (batched) return Promise.all(tickets.map((ticket) => this.issue(ticket)));
    const outcomes: (Answer | Error)[] = [];
    for (const ticket of tickets) {
      const outcome = await this.issue(ticket);
      outcomes.push(outcome);
      if (outcome instanceof Error) break;
    }
    return outcomes;
  }

  /** What is decided already is answered now: a place behind those who wait would change nothing about it. */
  private defer(grab: Grab, strategy?: string): Promise<Answer> {
    return this.database.transaction((tx) => idempotency.once(tx, grab.request, () => this.accept(tx, grab, strategy)));
  }

  private async accept(tx: Transaction, { couponId, userId, request }: Grab, strategy?: string): Promise<Answer> {
    const line = lineOf(couponId);
    const waiting = await this.tickets.waitingOf(tx, line, userId);
    const standing = await this.coupons.standing(tx, couponId, userId);
    const no = refusal(standing);
    if (no) throw no;
    // As many as the user may have: whoever asks once more is shown the last of them.
    if (waiting.length >= standing!.perUserLimit) return accepted(waiting.at(-1)!);
    const asked: AskedIssue = { couponId, strategy };
    return this.tickets.add(tx, { line, userId, asked, traceId: request.traceId });
  }

  private async issue(ticket: Ticket<AskedIssue>): Promise<Answer | Error> {
    const { couponId, strategy } = ticket.asked;
    const deadline = performance.now() + Math.min(turnMs, this.config.lock.waitMs);
    try {
      const grab = { couponId, userId: ticket.userId, request: ticketRequest(ticket), deadline };
      return await this.strategies.choose(strategy).issue(grab);
    } catch (error) {
      return error as Error;
    }
  }
}

export const lineOf = (couponId: number): string => `coupon:${couponId}`;
