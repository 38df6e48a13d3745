import { Logger } from '@nestjs/common';
import { httpErrors } from './http.errors.js';
import { finalRefusal, idempotency, type Answer } from './idempotency.js';
import { ProblemError, type ProblemTranslator } from './problem.js';
import { problemBody } from './problem-document.js';
import { ticketRequest, type Ticket, type Tickets } from './tickets.js';

export interface TicketWork<Asked> {
  /** At most that many of one line are handed in at once. */
  atOnce: number;
  /**
   * Decides them in this order, each under the key of its ticket (`ticketRequest`). An outcome for each, or for the first
   * few: whoever gets none, or one that is worth repeating, keeps the place and is handed in again.
   */
  perform(tickets: Ticket<Asked>[]): Promise<(Answer | Error)[]>;
  /** Tell contention from a mistake of ours. */
  translators: ProblemTranslator[];
}

const longestWaitMs = 2_000;
// A ticket that no attempt can decide would keep its whole line waiting for ever. Contention does not count.
const mostFailures = 6;

/** How long a line waits after its nth attempt in vain: the backend is asked again soon, and not in a storm. */
export const backOffMs = (attempts: number): number => Math.min(longestWaitMs, 50 * 2 ** Math.min(attempts, 10));

/** Works off the lines, in as many processes as there are: each takes a line of its own. */
export class TicketWorker<Asked> {
  private readonly logger = new Logger('Tickets');
  private running = false;
  private stopped = false;
  private failing = false;

  constructor(
    private readonly tickets: Tickets,
    private readonly work: TicketWork<Asked>,
  ) {}

  /** For an interval: one run at a time, and what fails is only told. */
  async tick(): Promise<void> {
    if (this.running) return;
    this.running = true;
    try {
      await this.tickets.lookAround();
      await this.run();
      this.failing = false;
    } catch (error) {
      // Once per outage, not twice a second.
      if (!this.failing) this.logger.warn(`Not run, the next tick tries again: ${(error as Error).message}`);
      this.failing = true;
    } finally {
      this.running = false;
    }
  }

  /** No further claim. What is claimed comes to its end, or is claimed by somebody else later. */
  stop(): void {
    this.stopped = true;
  }

  /** Until no line is due. How many tickets were done. */
  async run(): Promise<number> {
    let done = 0;
    while (!this.stopped) {
      const claimed = await this.tickets.claim<Asked>(this.work.atOnce);
      if (claimed.length === 0) break;
      done += await this.workOff(claimed);
    }
    return done;
  }

  private async workOff(claimed: Ticket<Asked>[]): Promise<number> {
    // What failed once is handed in alone: it may have failed because of another, or take others with it.
    const handedIn = claimed[0]!.failures > 0 ? claimed.slice(0, 1) : claimed;
    const outcomes = await this.work.perform(handedIn).catch((error: Error) => [error]);
    const answers = new Map<string, Answer>();
    const failed: string[] = [];
    for (const [place, outcome] of outcomes.entries()) {
      const ticket = handedIn[place]!;
      const answer = await this.answerOf(ticket, outcome);
      if (answer) answers.set(ticket.id, answer);
      else if (!this.isContention(outcome)) failed.push(ticket.id);
    }
    if (answers.size > 0) await this.tickets.finish(answers);
    const left = claimed.filter(({ id }) => !answers.has(id));
    if (left.length > 0) {
      const inVain = answers.size < Math.max(1, outcomes.length);
      const waitMs = inVain ? backOffMs(left[0]!.attempts) : 0;
      await this.tickets.postpone(
        left.map(({ id }) => id),
        waitMs,
        failed,
      );
    }
    return answers.size;
  }

  /** Undefined for what is to be tried again. */
  private async answerOf(ticket: Ticket<Asked>, outcome: Answer | Error): Promise<Answer | undefined> {
    if (!(outcome instanceof Error)) return outcome;
    const request = ticketRequest(ticket);
    const refused = finalRefusal(outcome, request);
    if (refused || this.isContention(outcome)) return refused;
    this.logger.error({ err: outcome, ticketId: ticket.id, traceId: ticket.traceId }, 'A ticket failed.');
    if (ticket.failures + 1 < mostFailures) return undefined;
    const failed = { status: 500, body: problemBody(httpErrors.INTERNAL_ERROR().problem, ticket.traceId) };
    // An attempt may have had its effect all the same, and failed on its way back.
    return (await idempotency.replay(this.tickets.database, request)) ?? { ...failed, replayed: false };
  }

  private isContention(outcome: unknown): boolean {
    return outcome instanceof ProblemError || this.work.translators.some((translate) => translate(outcome));
  }
}
