import {
  defineProblems,
  idempotency,
  idempotencyInProgressSql,
  idempotencyTableSql,
  keyId,
  ProblemError,
  type Answer,
  type IdempotentRequest,
} from '@firstcome/http';
import { sql, type Database } from '@firstcome/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { openDatabase, type OpenDatabase } from './open-database.js';

const errors = defineProblems({
  SOLD_OUT: { status: 409, title: 'Sold out', detail: 'It is final.' },
  BUSY: { status: 409, title: 'Busy', detail: 'Repeat it.', retryable: true, retryAfterMs: 100 },
});
const effect = sql('effect', 'insert into effects default values returning id');

let server: TestDatabase;
let open: OpenDatabase;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
  await server.query(
    `create table effects (id int generated always as identity); ${idempotencyTableSql} ${idempotencyInProgressSql}`,
  );
  open = await openDatabase(server.url, { poolSize: 8 });
  database = open.database;
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await server.drop();
});
beforeEach(() => server.query('truncate effects, idempotency_keys'));

const request = (changes: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  key: 'key',
  scope: '["alice","POST","/v1/orders"]',
  fingerprint: 'same',
  traceId: 'trace',
  ...changes,
});

const once = (asked: IdempotentRequest, decide?: () => Promise<Answer>) =>
  database.transaction((tx) =>
    idempotency.once(
      tx,
      asked,
      decide ??
        (async () => {
          const [row] = await tx.query<{ id: number }>(effect, []);
          return { status: 201, body: `{ "b": 1,  "a": ${row!.id} }`, replayed: false };
        }),
    ),
  );

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error: unknown) => (error instanceof ProblemError ? error.problem.code : error),
  );
const effects = async () => (await server.query('select from effects')).length;

describe('a request with an Idempotency-Key', () => {
  it('has one effect, and its answer comes back byte for byte', async () => {
    const first = await once(request());
    const second = await once(request());
    expect(second).toEqual({ ...first, replayed: true });
    expect(await idempotency.replay(database, request())).toEqual(second);
    expect(await effects()).toBe(1);
  });

  it('is looked up without a statement when it has no key, and then happens each time', async () => {
    const keyless = request({ key: undefined });
    const refuses = { query: () => Promise.reject(new Error('no statement was due')) };
    expect(await idempotency.replay(refuses, keyless)).toBeUndefined();
    await once(keyless);
    await once(keyless);
    expect(await effects()).toBe(2);
  });

  it('is refused for another body under the same key', async () => {
    await once(request());
    const other = request({ fingerprint: 'other' });
    expect(await codeOf(once(other))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(await codeOf(idempotency.replay(database, other))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(await effects()).toBe(1);
  });

  it('is another one for another user, path or key', async () => {
    await once(request());
    await once(request({ scope: '["bob","POST","/v1/orders"]' }));
    await once(request({ scope: '["alice","POST","/v1/orders/7"]' }));
    await once(request({ key: 'other' }));
    expect(await effects()).toBe(4);
  });

  it('is refused while the first is in progress, at once, and replayed after it', async () => {
    let decide: () => void = () => undefined;
    const decided = new Promise<void>((resolve) => (decide = resolve));
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const first = once(request(), async () => {
      begin();
      await decided;
      return { status: 201, body: 'first', replayed: false };
    });
    await begun;
    expect(await codeOf(once(request()))).toBe('IDEMPOTENCY_IN_PROGRESS');
    expect(await codeOf(once(request({ key: 'another' })))).toBe('answered');
    decide();
    await first;
    expect(await once(request())).toEqual({ status: 201, body: 'first', replayed: true });
  });

  it('has one effect among 40 copies at once, whatever each copy is told', async () => {
    const told = await Promise.all(Array.from({ length: 40 }, () => codeOf(once(request()))));
    expect(new Set(told)).toEqual(new Set(['answered', 'IDEMPOTENCY_IN_PROGRESS']));
    expect(await effects()).toBe(1);
  });

  it('keeps a final refusal, after undoing what was done until then', async () => {
    const refuse = () =>
      database.transaction((tx) =>
        idempotency.once(tx, request(), async () => {
          await tx.query(effect, []);
          throw errors.SOLD_OUT({ extra: { id: 7 } });
        }),
      );
    const first = await refuse();
    expect(first).toMatchObject({ status: 409, replayed: false });
    expect(JSON.parse(first.body)).toMatchObject({ code: 'SOLD_OUT', id: 7, traceId: 'trace' });
    expect(await effects()).toBe(0);
    const second = await once(request({ traceId: 'another' }));
    expect(second).toMatchObject({ status: 409, body: first.body, replayed: true });
    expect(await effects()).toBe(0);
  });

  it('keeps neither contention nor a crash: the same key is decided next time', async () => {
    expect(await codeOf(once(request(), () => Promise.reject(errors.BUSY())))).toBe('BUSY');
    const crash = new Error('crash');
    expect(await codeOf(once(request(), () => Promise.reject(crash)))).toBe(crash);
    expect(await once(request())).toMatchObject({ status: 201, replayed: false });
  });

  it('leaves nothing when its transaction does not commit', async () => {
    const work = database.transaction(
      (tx) => idempotency.once(tx, request(), async () => ({ status: 201, body: 'x', replayed: false })),
      {
        beforeCommit: () => {
          throw new Error('lease lost');
        },
      },
    );
    await expect(work).rejects.toThrow('lease lost');
    expect(await idempotency.replay(database, request())).toBeUndefined();
  });
});

describe('a key of a request that takes several transactions', () => {
  const begin = (asked: IdempotentRequest) => database.transaction((tx) => idempotency.begin(tx, asked));
  const decideBegun = (asked: IdempotentRequest, decide: () => Promise<Answer>) =>
    database.transaction((tx) => idempotency.once(tx, asked, decide, { begun: true }));
  const answer = async (): Promise<Answer> => ({ status: 201, body: 'x', replayed: false });
  const other = request({ fingerprint: 'other' });

  it('is in progress from the first of them: for a copy, and before any lock; another body is refused', async () => {
    await begin(request());
    expect(await codeOf(idempotency.replay(database, request()))).toBe('IDEMPOTENCY_IN_PROGRESS');
    expect(await codeOf(begin(request()))).toBe('IDEMPOTENCY_IN_PROGRESS');
    expect(await codeOf(once(request()))).toBe('IDEMPOTENCY_IN_PROGRESS');
    for (const ask of [() => idempotency.replay(database, other), () => begin(other), () => once(other)]) {
      expect(await codeOf(ask())).toBe('IDEMPOTENCY_KEY_REUSED');
    }
    expect(await effects()).toBe(0);
  });

  it('is answered by whoever has begun it, once', async () => {
    await begin(request());
    expect(await decideBegun(request(), answer)).toMatchObject({ status: 201, replayed: false });
    expect(await decideBegun(request(), answer)).toMatchObject({ status: 201, replayed: true });
    expect(await idempotency.replay(database, request())).toMatchObject({ status: 201, body: 'x', replayed: true });
  });

  it('is free again once it is given up, but for what was answered', async () => {
    await begin(request());
    await idempotency.giveUp(database, keyId(request()));
    expect(await idempotency.replay(database, request())).toBeUndefined();
    await once(request());
    await idempotency.giveUp(database, keyId(request()));
    expect(await idempotency.replay(database, request())).toMatchObject({ status: 201 });
  });
});
