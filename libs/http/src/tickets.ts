import { accepted } from './accepted.js';
import type { Answer, IdempotentRequest, SqlExecutor, SqlTransaction } from './idempotency.js';
import { ticketErrors } from './ticket.errors.js';
import { ticketMetrics } from './ticket-metrics.js';
import type { TicketView } from './ticket.view.js';
import { uuidv7 } from './uuidv7.js';

/** A request that was accepted with 202, and what was asked in it. */
export interface Ticket<Asked = unknown> {
  id: string;
  /** Tickets of one line are done in order of arrival. */
  line: string;
  userId: string;
  asked: Asked;
  traceId: string;
  /** How often it was claimed, this time included. */
  attempts: number;
  /** How often it ended in a mistake of ours. */
  failures: number;
}

export type NewTicket = Pick<Ticket, 'line' | 'userId' | 'asked' | 'traceId'>;

export interface TicketOptions {
  /** Whether a request whose lock cannot be asked for is taken in (LOCK_BACKEND_DOWN=defer) or refused. */
  defer: boolean;
  /** Beyond that many nothing is taken in. Not to the last one: requests at the same moment do not see each other. */
  maxWaiting: number;
}

interface Line {
  line: string;
  waiting: number;
  oldestSeconds: number;
}

export interface TicketDatabase extends SqlExecutor {
  transaction<R>(work: (tx: SqlTransaction) => Promise<R>): Promise<R>;
}

/** The table behind the tickets, for a migration of each app. `place` is the order of arrival. */
export const ticketTableSql = `
create table tickets (
  id uuid primary key,
  place bigint generated always as identity,
  line text not null constraint tickets_line check (char_length(line) between 1 and 100),
  user_id text not null constraint tickets_user check (char_length(user_id) between 1 and 255),
  asked json not null,
  trace_id text not null,
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  claimed_until timestamptz,
  attempts integer not null default 0,
  failures integer not null default 0,
  status smallint constraint tickets_status check (status between 200 and 599),
  body text,
  done_at timestamptz,
  constraint tickets_result check (num_nulls(status, body, done_at) in (0, 3))
);
create index tickets_waiting on tickets (line, place) where status is null;
create index tickets_waiting_of_user on tickets (user_id, line, place) where status is null;
create index tickets_done on tickets (done_at) where status is not null;
`;

// Places are drawn one after the other, so that they are seen in their order: nobody gets in before one that is given out.
const lockLineStatement = {
  name: 'ticket-lock-line',
  text: 'select pg_advisory_xact_lock(hashtextextended($1, 1))',
};
const waitingOfStatement = {
  name: 'ticket-waiting-of',
  text: 'select id from tickets where user_id = $2 and line = $1 and status is null order by place',
};
const countStatement = {
  name: 'ticket-count',
  text: 'select count(*)::int as waiting from (select from tickets where status is null limit $1) waiting',
};
const addStatement = {
  name: 'ticket-add',
  text: 'insert into tickets (id, line, user_id, asked, trace_id) values ($1, $2, $3, $4, $5)',
};
const findStatement = {
  name: 'ticket-find',
  text: 'select status, body from tickets where id = $1 and user_id = $2',
};
const aheadStatement = {
  name: 'ticket-ahead',
  text: `select exists (
           select from tickets where line = $1 and status is null
              and (attempts > 1 or claimed_until is null or claimed_until <= now())
         ) as ahead`,
};
const linesStatement = {
  name: 'ticket-lines',
  text: `select line, count(*)::int as waiting, extract(epoch from now() - min(created_at))::float8 as "oldestSeconds"
           from tickets where status is null group by line`,
};
// Only the head of a line is looked at: while it is claimed or has to wait, so does everybody behind it, and two workers
// never have tickets of one line at once. A claim that nobody has come back from ends by itself.
const claimStatement = {
  name: 'ticket-claim',
  text: `with head as (
           select t.line from tickets t
            where t.status is null and t.due_at <= now() and (t.claimed_until is null or t.claimed_until <= now())
              and not exists (select from tickets e where e.line = t.line and e.status is null and e.place < t.place)
            order by t.place limit 1 for update skip locked
         )
         update tickets set claimed_until = now() + make_interval(secs => $2::float8 / 1000), attempts = attempts + 1
          where status is null
            and id in (select t.id from tickets t join head on t.line = head.line
                        where t.status is null order by t.place limit $1)
         returning id, line, user_id as "userId", asked, trace_id as "traceId", attempts, failures, place`,
};
const finishStatement = {
  name: 'ticket-finish',
  text: `update tickets t set status = answer.status, body = answer.body, done_at = now(), claimed_until = null
           from unnest($1::uuid[], $2::int[], $3::text[]) as answer (id, status, body)
          where t.id = answer.id and t.status is null`,
};
const postponeStatement = {
  name: 'ticket-postpone',
  text: `update tickets set due_at = now() + make_interval(secs => $2::float8 / 1000), claimed_until = null,
                failures = failures + (id = any($3::uuid[]))::int
          where id = any($1::uuid[]) and status is null`,
};

// Longer than a worker takes for what it claims at once. Too short would cost double work, not a double effect.
const claimMs = 15_000;

/** Requests that wait in the database for a lock whose backend is away. */
export class Tickets {
  /** Lines in which somebody may be waiting, as far as this process has heard. */
  private waiting = new Set<string>();

  constructor(
    readonly database: TicketDatabase,
    private readonly options: TicketOptions,
  ) {}

  /**
   * `now`; or `later`, where the lock's backend cannot be used, or where others who could not wait for it are still in
   * line: who comes once it is back goes behind them. Any other failure stays one: it says nothing of what was done.
   */
  async nowOrLater(line: string, now: () => Promise<Answer>, later: () => Promise<Answer>): Promise<Answer> {
    if (!this.options.defer) return now();
    if (await this.isAhead(line)) return later();
    try {
      return await now();
    } catch (error) {
      // Thrown while a lock was asked for, which is before anything was written, or after what was written is rolled back.
      if ((error as { code?: unknown }).code !== 'LOCK_BACKEND_UNAVAILABLE') throw error;
      return later();
    }
  }

  /** The waiting tickets of one user, the oldest first. Until the end of the transaction nobody else gets into the line. */
  async waitingOf(tx: SqlTransaction, line: string, userId: string): Promise<string[]> {
    await tx.query(lockLineStatement, [line]);
    // A second statement, so that its snapshot sees what was committed during the wait.
    const rows = await tx.query<{ id: string }>(waitingOfStatement, [line, userId]);
    return rows.map(({ id }) => id);
  }

  /** In the transaction that stores the 202. */
  async add(tx: SqlTransaction, { line, userId, asked, traceId }: NewTicket): Promise<Answer> {
    const [counted] = await tx.query<{ waiting: number }>(countStatement, [this.options.maxWaiting]);
    if (counted!.waiting >= this.options.maxWaiting) throw ticketErrors.LOCK_QUEUE_FULL();
    const id = uuidv7();
    await tx.query(addStatement, [id, line, userId, JSON.stringify(asked), traceId]);
    this.waiting.add(line);
    return accepted(id);
  }

  async find(id: string, userId: string): Promise<TicketView> {
    const [row] = await this.database.query<{ status: number | null; body: string }>(findStatement, [id, userId]);
    if (!row) throw ticketErrors.TICKET_NOT_FOUND();
    if (row.status === null) return { status: 'WAITING' };
    return { status: 'DONE', result: { status: row.status, body: JSON.parse(row.body) as object } };
  }

  /** The oldest tickets of a line that is due and that nobody works on, oldest first; none where there is no such line. */
  async claim<Asked>(limit: number): Promise<Ticket<Asked>[]> {
    const rows = await this.database.query<Ticket<Asked> & { place: number }>(claimStatement, [limit, claimMs]);
    return rows.toSorted((a, b) => a.place - b.place);
  }

  async finish(answers: ReadonlyMap<string, Answer>): Promise<void> {
    const all = [...answers.values()];
    const columns = [[...answers.keys()], all.map(({ status }) => status), all.map(({ body }) => body)];
    await this.database.query(finishStatement, columns);
  }

  async postpone(ids: string[], waitMs: number, failed: string[]): Promise<void> {
    await this.database.query(postponeStatement, [ids, waitMs, failed]);
  }

  /** Hears of the lines that other processes have begun, and tells the metrics how long they are. */
  async lookAround(): Promise<void> {
    if (!this.options.defer) return;
    const lines = await this.database.query<Line>(linesStatement, []);
    this.waiting = new Set(lines.map(({ line }) => line));
    ticketMetrics.waiting.set(lines.reduce((sum, { waiting }) => sum + waiting, 0));
    ticketMetrics.oldest.set(Math.max(0, ...lines.map(({ oldestSeconds }) => oldestSeconds)));
  }

  /**
   * Whether somebody in this line waits for a turn. Whose first turn it is at this very moment is not ahead, or under steady
   * traffic the line would never end; who has had one in vain is.
   */
  private async isAhead(line: string): Promise<boolean> {
    if (!this.waiting.has(line)) return false;
    const [row] = await this.database.query<{ ahead: boolean }>(aheadStatement, [line]);
    if (!row!.ahead) this.waiting.delete(line);
    return row!.ahead;
  }
}

/** The ticket is the key of its work: whoever does it again, after a worker that died, finds the answer that is stored. */
export function ticketRequest({ id, traceId }: Pick<Ticket, 'id' | 'traceId'>): IdempotentRequest {
  return { key: id, scope: 'ticket', fingerprint: '', traceId };
}
