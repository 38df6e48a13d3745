import {
  defineProblems,
  idempotency,
  idempotencyTableSql,
  metricsRegistry,
  ticketRequest,
  Tickets,
  ticketTableSql,
  TicketWorker,
} from '@firstcome/http';
import type { Answer, Ticket } from '@firstcome/http';
import { databaseProblem, sql } from '@firstcome/postgres';
import type { Database, Transaction } from '@firstcome/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { openDatabase } from './open-database.js';
import type { OpenDatabase } from './open-database.js';

const errors = defineProblems({
  REFUSED: { status: 409, title: 'Refused', detail: 'It is final.' },
  BUSY: { status: 409, title: 'Busy', detail: 'Repeat it.', retryable: true, retryAfterMs: 100 },
});
const effect = sql('effect', 'insert into effects (what) values ($1)');

let server: TestDatabase;
let open: OpenDatabase;
let database: Database;
let tickets: Tickets;

beforeAll(async () => {
  server = await createTestDatabase();
  await server.query(
    `create table effects (at int generated always as identity, what text); ${idempotencyTableSql} ${ticketTableSql}`,
  );
  open = await openDatabase(server.url, { poolSize: 8 });
  database = open.database;
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await server.drop();
});
beforeEach(async () => {
  await server.query('truncate effects, idempotency_keys, tickets');
  tickets = new Tickets(database, { defer: true, maxWaiting: 1000 });
});

const down = Object.assign(new Error('away'), { code: 'LOCK_BACKEND_UNAVAILABLE' });
async function add(line: string, what: string, userId = 'ann'): Promise<string> {
  const answer = await database.transaction((tx) => tickets.add(tx, { line, userId, asked: { what }, traceId: 't' }));
  return (JSON.parse(answer.body) as { ticketId: string }).ticketId;
}
type Asked = { what: string };
/** What the services do: the effect and its answer in one transaction, under the key of the ticket. */
const perform = async (handedIn: Ticket<Asked>[]): Promise<Answer[]> => {
  const answers = [];
  for (const ticket of handedIn) {
    const decide = (tx: Transaction) => async (): Promise<Answer> => {
      await tx.query(effect, [ticket.asked.what]);
      return { status: 201, body: JSON.stringify(ticket.asked), replayed: false };
    };
    answers.push(await database.transaction((tx) => idempotency.once(tx, ticketRequest(ticket), decide(tx))));
  }
  return answers;
};
const worker = (work: (handedIn: Ticket<Asked>[]) => Promise<(Answer | Error)[]> = perform, atOnce = 10) =>
  new TicketWorker<Asked>(tickets, { atOnce, perform: work, translators: [databaseProblem] });
const effects = async () =>
  (await server.query<{ what: string }>('select what from effects order by at')).map(({ what }) => what);
const due = () => server.query('update tickets set due_at = now(), claimed_until = null where status is null');

describe('a worker', () => {
  it('does the tickets of a line in the order of arrival, whatever fits into one claim, and nothing twice', async () => {
    const all = Array.from({ length: 25 }, (_, at) => `${at}`);
    for (const what of all) await add('a', what);
    expect(await worker().run()).toBe(25);
    expect(await effects()).toEqual(all);
    expect(await worker().run()).toBe(0);
    expect(await effects()).toEqual(all);
  });

  it('among four shares the lines: no line is ever in two hands, and each is in order', async () => {
    const lines = ['a', 'b', 'c', 'd', 'e'];
    for (let at = 0; at < 12; at++) for (const line of lines) await add(line, `${line}${at}`);
    const hands = new Map<string, number>();
    let most = 0;
    const watched = async (handedIn: Ticket<Asked>[]) => {
      const { line } = handedIn[0]!;
      hands.set(line, (hands.get(line) ?? 0) + 1);
      most = Math.max(most, ...hands.values());
      const answers = await perform(handedIn);
      hands.set(line, hands.get(line)! - 1);
      return answers;
    };
    const done = await Promise.all([1, 2, 3, 4].map(() => worker(watched, 3).run()));
    // Who finds every line in other hands goes home; the others do its part.
    expect(done.reduce((sum, count) => sum + count, 0)).toBe(60);
    expect(most).toBe(1);
    for (const line of lines) {
      const own = (await effects()).filter((what) => what.startsWith(line));
      expect(own).toEqual(Array.from({ length: 12 }, (_, at) => `${line}${at}`));
    }
  });

  it('that died after its commit leaves a ticket that the next one only tells', async () => {
    const id = await add('a', 'once');
    const claimed = await tickets.claim<Asked>(10);
    await perform(claimed);
    // Dead: nobody finishes, and until its claim ends nobody else comes near.
    expect(await worker().run()).toBe(0);
    await due();
    expect(await worker().run()).toBe(1);
    expect(await effects()).toEqual(['once']);
    expect(await tickets.find(id, 'ann')).toEqual({ status: 'DONE', result: { status: 201, body: { what: 'once' } } });
  });

  it('stops a line at contention, and goes on with it in order', async () => {
    for (const what of ['1', '2', '3']) await add('a', what);
    await add('b', 'other');
    let busy = true;
    const contended = async (handedIn: Ticket<Asked>[]) => {
      if (handedIn[0]!.line !== 'a' || !busy) return perform(handedIn);
      const [first] = handedIn;
      if (first!.asked.what !== '1') return handedIn.map(() => errors.BUSY());
      return [...(await perform([first!])), errors.BUSY()];
    };
    expect(await worker(contended).run()).toBe(2);
    expect((await effects()).toSorted()).toEqual(['1', 'other']);
    await due();
    expect(await worker(contended).run()).toBe(0);
    busy = false;
    await due();
    expect(await worker(contended).run()).toBe(2);
    expect((await effects()).filter((what) => what !== 'other')).toEqual(['1', '2', '3']);
  });

  it('tells a final refusal as the answer, though nobody stored it', async () => {
    const id = await add('a', 'x');
    expect(await worker(async () => [errors.REFUSED()]).run()).toBe(1);
    expect(await tickets.find(id, 'ann')).toMatchObject({
      result: { status: 409, body: { code: 'REFUSED', traceId: 't' } },
    });
  });

  it('gives up a ticket that fails by a mistake of ours, and only that one: others are handed in without it', async () => {
    const [before, bad, after] = [await add('a', 'before'), await add('a', 'bad'), await add('a', 'after')];
    const broken = async (handedIn: Ticket<Asked>[]) => {
      const failed = handedIn.some(({ asked }) => asked.what === 'bad');
      return failed ? handedIn.map(() => new TypeError('a mistake')) : perform(handedIn);
    };
    for (let runs = 0; runs < 20; runs++) {
      await worker(broken).run();
      await due();
    }
    expect(await effects()).toEqual(['before', 'after']);
    expect(await tickets.find(bad, 'ann')).toMatchObject({ result: { status: 500, body: { code: 'INTERNAL_ERROR' } } });
    for (const id of [before, after]) expect(await tickets.find(id, 'ann')).toMatchObject({ result: { status: 201 } });
  });

  it('does not give up what had its effect after all', async () => {
    const id = await add('a', 'done');
    const lateFailure = async (handedIn: Ticket<Asked>[]) => {
      await perform(handedIn);
      return [new TypeError('on its way back')];
    };
    for (let runs = 0; runs < 6; runs++) {
      await worker(lateFailure).run();
      await due();
    }
    expect(await effects()).toEqual(['done']);
    expect(await tickets.find(id, 'ann')).toMatchObject({ result: { status: 201, body: { what: 'done' } } });
  });
});

describe('a request', () => {
  const answer = (body: string): Answer => ({ status: 201, body, replayed: false });
  const now = async () => answer('now');
  const later = async () => answer('later');
  const bodyOf = async (asked: Promise<Answer>) => (await asked).body;

  it('is done now, and later only where the backend of the lock cannot be used', async () => {
    expect(await bodyOf(tickets.nowOrLater('a', now, later))).toBe('now');
    expect(await bodyOf(tickets.nowOrLater('a', () => Promise.reject(down), later))).toBe('later');
    for (const code of [
      'LOCK_TIMEOUT',
      'LOCK_BUSY',
      'LOCK_LOST',
      'LOCK_QUEUE_FULL',
      'LOCK_ABORTED',
      'STALE_FENCE',
      '57P01',
    ]) {
      const failed = Object.assign(new Error(code), { code });
      await expect(tickets.nowOrLater('a', () => Promise.reject(failed), later)).rejects.toBe(failed);
    }
  });

  it('is never done later under the policy fail', async () => {
    const strict = new Tickets(database, { defer: false, maxWaiting: 1000 });
    await expect(strict.nowOrLater('a', () => Promise.reject(down), later)).rejects.toBe(down);
  });

  it('goes behind those who wait in its line, and in no other; not behind those whose first turn it is', async () => {
    const id = await add('a', 'early');
    expect(await bodyOf(tickets.nowOrLater('a', now, later))).toBe('later');
    expect(await bodyOf(tickets.nowOrLater('b', now, later))).toBe('now');
    const claimed = await tickets.claim(10);
    expect(claimed.map((ticket) => ticket.id)).toEqual([id]);
    expect(await bodyOf(tickets.nowOrLater('a', now, later))).toBe('now');
    // In vain: then it waits again, and the second turn is no reason to pass it.
    await tickets.postpone([id], 0, []);
    await tickets.lookAround();
    expect(await bodyOf(tickets.nowOrLater('a', now, later))).toBe('later');
    await tickets.claim(10);
    expect(await bodyOf(tickets.nowOrLater('a', now, later))).toBe('later');
    await tickets.finish(new Map([[id, answer('{}')]]));
    expect(await bodyOf(tickets.nowOrLater('a', now, later))).toBe('now');
  });

  it('hears of a line that another process has begun', async () => {
    const other = new Tickets(database, { defer: true, maxWaiting: 1000 });
    await add('a', 'early');
    expect(await bodyOf(other.nowOrLater('a', now, later))).toBe('now');
    await other.lookAround();
    expect(await bodyOf(other.nowOrLater('a', now, later))).toBe('later');
  });

  it('is counted while it waits, and how long it has waited is told', async () => {
    const told = async (name: string) => (await metricsRegistry.getSingleMetric(name)!.get()).values[0]?.value;
    const first = await add('a', 'first');
    await add('b', 'second');
    await server.query(`update tickets set created_at = now() - interval '90 s' where id = $1`, [first]);
    await tickets.lookAround();
    expect(await told('firstcome_tickets_waiting')).toBe(2);
    expect(await told('firstcome_tickets_oldest_seconds')).toBeGreaterThanOrEqual(90);
    await worker().run();
    await tickets.lookAround();
    expect(await told('firstcome_tickets_waiting')).toBe(0);
    expect(await told('firstcome_tickets_oldest_seconds')).toBe(0);
  });

  it('of one user waits for the other of the same user, so that both together keep to a limit', async () => {
    const limited = (what: string) =>
      database.transaction(async (tx) => {
        if ((await tickets.waitingOf(tx, 'a', 'ann')).length >= 2) return undefined;
        return tickets.add(tx, { line: 'a', userId: 'ann', asked: { what }, traceId: 't' });
      });
    const all = await Promise.all(Array.from({ length: 20 }, (_, at) => limited(`${at}`)));
    expect(all.filter((each) => each !== undefined)).toHaveLength(2);
  });
});
