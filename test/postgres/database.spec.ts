import {
  Database,
  databaseProblem,
  isCheckViolation,
  isUniqueViolation,
  OutcomeUnknownError,
  sql,
} from '@firstcome/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { openDatabase, type OpenDatabase } from './open-database.js';
import { wireTo } from '../support/wire.js';

let server: TestDatabase;
let open: OpenDatabase;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
  await server.query('create table items (id bigint primary key, count int not null check (count >= 0))');
  open = await openDatabase(server.url);
  database = open.database;
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await server.drop();
});

const insert = sql('insert', 'insert into items (id, count) values ($1, $2)');
const add = sql('add', 'update items set count = count + $2 where id = $1 returning count');
const wait = sql('wait', 'select pg_sleep($1)');
const pid = sql('pid', 'select pg_backend_pid() as pid');

const codeOf = (error: unknown) => databaseProblem(error)?.code;
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const idsFrom = async (first: number) =>
  (await server.query<{ id: string }>('select id from items where id >= $1 order by id', [first])).map(({ id }) => +id);

describe('values', () => {
  it('come back as exact numbers, dates as text, times as Date', async () => {
    const text = `select 9007199254740991::int8 as big, '{1,null,9007199254740991}'::int8[] as list,
      '2026-01-31'::date as day, '2026-01-31T09:00:00Z'::timestamptz as time, count(*) as counted from items`;
    expect(await database.query(sql('types', text))).toEqual([
      {
        big: 2 ** 53 - 1,
        list: [1, null, 2 ** 53 - 1],
        day: '2026-01-31',
        time: new Date('2026-01-31T09:00:00Z'),
        counted: 0,
      },
    ]);
  });

  it('are never rounded: a larger int8 throws', async () => {
    const error = await failure(database.query(sql('large', 'select 9007199254740993::int8 as big')));
    expect(error).toBeInstanceOf(RangeError);
    expect(await database.query(sql('after', 'select 1::int8 as one'))).toEqual([{ one: 1 }]);
  });
});

describe('a transaction', () => {
  it('commits what work did, and gives its result', async () => {
    expect(await database.transaction((tx) => tx.query(insert, [1, 5]).then(() => 'done'))).toBe('done');
    expect(await idsFrom(1)).toEqual([1]);
  });

  it('rolls back what work threw, and throws it on', async () => {
    const thrown = new Error('no');
    const work = database.transaction(async (tx) => {
      await tx.query(insert, [2, 5]);
      throw thrown;
    });
    expect(await failure(work)).toBe(thrown);
    expect(await idsFrom(2)).toEqual([]);
  });

  it('asks once more before COMMIT, and rolls back when that throws', async () => {
    const lost = new Error('lease lost');
    const work = database.transaction((tx) => tx.query(insert, [3, 5]), {
      beforeCommit: () => {
        throw lost;
      },
    });
    expect(await failure(work)).toBe(lost);
    expect(await idsFrom(2)).toEqual([]);
  });

  it('undoes to a savepoint and goes on', async () => {
    await database.transaction(async (tx) => {
      await tx.query(insert, [10, 1]);
      const error = await failure(tx.savepoint(() => tx.query(insert, [10, 2])));
      expect(isUniqueViolation(error, 'items_pkey')).toBe(true);
      expect(isUniqueViolation(error, 'another')).toBe(false);
      const inner = await failure(
        tx.savepoint(async () => {
          await tx.savepoint(() => tx.query(insert, [11, 1]));
          await tx.query(add, [10, -5]);
        }),
      );
      expect(isCheckViolation(inner, 'items_count_check')).toBe(true);
      await tx.savepoint(() => tx.query(insert, [12, 1]));
    });
    expect(await idsFrom(10)).toEqual([10, 12]);
  });

  it('never says committed when an error inside was swallowed', async () => {
    const work = database.transaction(async (tx) => {
      await tx.query(insert, [20, 1]);
      await failure(tx.query(insert, [20, 1]));
    });
    expect(await failure(work)).toMatchObject({ message: expect.stringContaining('swallowed') as string });
    expect(await idsFrom(20)).toEqual([]);
  });

  it('keeps its connection after an error of a statement', async () => {
    const before = await database.transaction((tx) => tx.query(pid, []));
    await failure(database.transaction((tx) => tx.query(insert, [1, 1])));
    await failure(database.query(insert, [1, 1]));
    expect(await database.transaction((tx) => tx.query(pid, []))).toEqual(before);
  });

  it('turns a deadlock into CONCURRENT_UPDATE for one of the two', async () => {
    await database.query(insert, [30, 0]);
    await database.query(insert, [31, 0]);
    let arrived = 0;
    let go: () => void;
    const both = new Promise<void>((resolve) => (go = resolve));
    const cross = (first: number, second: number) =>
      database.transaction(async (tx) => {
        await tx.query(add, [first, 1]);
        if (++arrived === 2) go();
        await both;
        await tx.query(add, [second, 1]);
      });
    const errors = await Promise.all([failure(cross(30, 31)), failure(cross(31, 30))]);
    expect(errors.filter(Boolean).map(codeOf)).toEqual(['CONCURRENT_UPDATE']);
  });

  it('waits for a row lock only so long: CONCURRENT_UPDATE', async () => {
    const held = await server.hold('update items set count = 0 where id = 30');
    expect(codeOf(await failure(database.query(add, [30, 1])))).toBe('CONCURRENT_UPDATE');
    await held.letGo();
  });
});

describe('when PostgreSQL fails', () => {
  it('a statement that takes too long is DATABASE_UNAVAILABLE', async () => {
    expect(codeOf(await failure(database.query(wait, [60])))).toBe('DATABASE_UNAVAILABLE');
  });

  it('a transaction past its deadline is cut, also while it waits for something else', async () => {
    const never = new Promise<never>(() => undefined);
    const slow = database.transaction((tx) => tx.query(wait, [60]), { timeoutMs: 200 });
    expect(codeOf(await failure(slow))).toBe('DATABASE_UNAVAILABLE');
    const idle = database.transaction(
      async (tx) => {
        await tx.query(insert, [40, 1]);
        await Promise.race([never, new Promise((resolve) => setTimeout(resolve, 400))]);
        await tx.query(insert, [41, 1]);
      },
      { timeoutMs: 200 },
    );
    expect(codeOf(await failure(idle))).toBe('DATABASE_UNAVAILABLE');
    expect(await idsFrom(40)).toEqual([]);
  });

  it('a backend that is killed inside a transaction is DATABASE_UNAVAILABLE, and the next one works', async () => {
    const killed = database.transaction(async (tx) => {
      const [row] = await tx.query<{ pid: number }>(pid, []);
      await tx.query(insert, [50, 1]);
      await server.query('select pg_terminate_backend($1)', [row!.pid]);
      await tx.query(insert, [51, 1]);
    });
    expect(codeOf(await failure(killed))).toBe('DATABASE_UNAVAILABLE');
    expect(await idsFrom(50)).toEqual([]);
    await database.query(insert, [50, 1]);
  });

  it('a backend killed while the transaction waits for something else ends no process', async () => {
    const killed = database.transaction(async (tx) => {
      const [row] = await tx.query<{ pid: number }>(pid, []);
      await server.query('select pg_terminate_backend($1)', [row!.pid]);
      // The socket's end is seen before this returns.
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
    expect(codeOf(await failure(killed))).toBe('DATABASE_UNAVAILABLE');
  });

  it('killed idle connections are replaced', async () => {
    await Promise.all([1, 2, 3, 4].map(() => database.query(wait, [0.05])));
    await server.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'spec' and datname = current_database()`,
    );
    await expect.poll(() => failure(database.query(pid, [])), { timeout: 2000 }).toBeUndefined();
  });

  it('an exhausted pool is DATABASE_UNAVAILABLE within about a second, and works again after', async () => {
    let free: () => void = () => undefined;
    const freed = new Promise<void>((resolve) => (free = resolve));
    const holders = [1, 2, 3, 4].map(() => database.transaction(() => freed));
    const startedAt = performance.now();
    expect(codeOf(await failure(database.query(pid, [])))).toBe('DATABASE_UNAVAILABLE');
    // Far below any statement's deadline; the exact limit is the pool's setting.
    expect(performance.now() - startedAt).toBeLessThan(3000);
    free();
    await Promise.all(holders);
    expect(await database.query(pid, [])).toHaveLength(1);
  });

  it('a COMMIT whose reply is lost has an unknown outcome, and here it had happened', async () => {
    await using proxy = await wireTo(server.url);
    await using behind = await openDatabase(proxy.url, { poolSize: 1 });
    proxy.loseReplyTo('commit');
    const error = await failure(behind.database.transaction((tx) => tx.query(insert, [60, 1])));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(databaseProblem(error)).toMatchObject({ code: 'DATABASE_UNAVAILABLE', status: 503, retryable: true });
    expect(await idsFrom(60)).toEqual([60]);
    expect(await behind.database.query(pid, [])).toHaveLength(1);
  });

  it('a statement whose reply is lost: unknown alone, undone inside a transaction', async () => {
    await using proxy = await wireTo(server.url);
    await using behind = await openDatabase(proxy.url, { poolSize: 1 });
    proxy.loseReplyTo('insert into');
    expect(await failure(behind.database.query(insert, [70, 1]))).toBeInstanceOf(OutcomeUnknownError);
    await behind.database.query(sql('one', 'select 1'), []);
    proxy.loseReplyTo('insert into');
    const error = await failure(behind.database.transaction((tx) => tx.query(insert, [71, 1])));
    expect(error).not.toBeInstanceOf(OutcomeUnknownError);
    expect(codeOf(error)).toBe('DATABASE_UNAVAILABLE');
    expect(await idsFrom(70)).toEqual([70]);
  });

  it('a wire that swallows everything ends by the deadline: undone, or unknown once COMMIT was sent', async () => {
    await using proxy = await wireTo(server.url);
    await using behind = await openDatabase(proxy.url, { poolSize: 1 });
    const swallowed = behind.database.transaction(
      async (tx) => {
        await tx.query(insert, [80, 1]);
        proxy.blackHole();
      },
      { timeoutMs: 300 },
    );
    expect(await failure(swallowed)).toBeInstanceOf(OutcomeUnknownError);
    expect(codeOf(await failure(behind.database.query(pid, [])))).toBe('DATABASE_UNAVAILABLE');
  });

  it('a server that is down is DATABASE_UNAVAILABLE at once, and not ready', async () => {
    const proxy = await wireTo(server.url);
    await using behind = await openDatabase(proxy.url);
    await proxy[Symbol.asyncDispose]();
    expect(codeOf(await failure(behind.database.query(pid, [])))).toBe('DATABASE_UNAVAILABLE');
    await expect(behind.database.check()).rejects.toThrow(/cannot be reached/);
  });
});
