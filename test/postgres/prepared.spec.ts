import { databaseProblem, OutcomeUnknownError, sql } from '@firstcome/postgres';
import type { Database, TransactionOptions } from '@firstcome/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { endPrepared, preparedIn } from '../support/prepared.js';
import { wireTo } from '../support/wire.js';
import { openDatabase } from './open-database.js';
import type { OpenDatabase } from './open-database.js';

let server: TestDatabase;
let open: OpenDatabase;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
  await server.query('create table items (id bigint primary key)');
  open = await openDatabase(server.url);
  database = open.database;
});
afterAll(async () => {
  await open?.[Symbol.asyncDispose]();
  if (server) await endPrepared(server);
  await server?.drop();
});

let gids = 0;
const aGid = () => `spec-${process.pid}-${Date.now()}-${(gids += 1)}`;
const insert = sql('insert', 'insert into items (id) values ($1)');
const insertItem = (id: number, options: TransactionOptions, through = database) =>
  through.transaction((tx) => tx.query(insert, [id]), options);
const isThere = async (id: number) => (await server.query('select from items where id = $1', [id])).length === 1;
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const aboutNames = expect.stringContaining('no name') as string;
const codeOf = (error: unknown) => databaseProblem(error)?.code;

describe('a transaction that is prepared', () => {
  it('waits under its name until somebody commits or rolls back that name, once', async () => {
    const [kept, dropped] = [aGid(), aGid()];
    await insertItem(1, { prepareAs: () => kept });
    await insertItem(2, { prepareAs: () => dropped });
    expect([await isThere(1), await database.preparedTransactions()]).toEqual([false, [kept, dropped]]);
    expect(await database.preparedTransactions(60_000)).toEqual([]);
    expect(await Promise.all([database.commitPrepared(kept), database.rollbackPrepared(dropped)])).toEqual([
      true,
      true,
    ]);
    expect(await Promise.all([database.commitPrepared(kept), database.rollbackPrepared(dropped)])).toEqual([
      false,
      false,
    ]);
    expect([await isThere(1), await isThere(2)]).toEqual([true, false]);
  });

  it('is committed on its own connection where that is asked for, though all the others wait for its rows', async () => {
    await using narrow = await openDatabase(server.url, { poolSize: 1 });
    await insertItem(10, { prepareAs: aGid, commitPrepared: true }, narrow.database);
    expect([await isThere(10), await preparedIn(server)]).toEqual([true, []]);
  });

  it('is committed like any other where its result gets no name, and undone where its work throws', async () => {
    await insertItem(20, { prepareAs: () => undefined });
    expect([await isThere(20), await preparedIn(server)]).toEqual([true, []]);
    await failure(insertItem(20, { prepareAs: aGid }));
    const swallowed = database.transaction(
      async (tx) => {
        await tx.query(insert, [21]);
        await failure(tx.query(insert, [21]));
      },
      { prepareAs: aGid },
    );
    expect(await failure(swallowed)).toMatchObject({ message: expect.stringContaining('swallowed') as string });
    expect([await isThere(21), await preparedIn(server)]).toEqual([false, []]);
  });

  it('has a name of letters, digits, - and _, and nothing else is ever sent', async () => {
    for (const gid of [`x'; drop table items; --`, 'a b', '', 'ä', 'x'.repeat(200)]) {
      expect(await failure(database.commitPrepared(gid))).toMatchObject({ message: aboutNames });
      expect(await failure(insertItem(30, { prepareAs: () => gid }))).toMatchObject({ message: aboutNames });
    }
    expect(await isThere(30)).toBe(false);
  });

  it('keeps what its key has claimed: a copy that tries the lock does not get it before the end', async () => {
    const claim = sql('claim', 'select pg_try_advisory_xact_lock(4711) as got');
    const got = async () => (await database.transaction((tx) => tx.query<{ got: boolean }>(claim, [])))[0]!.got;
    const gid = aGid();
    await database.transaction(
      async (tx) => {
        await tx.savepoint(() => tx.query(insert, [40]));
        await tx.query(claim, []);
      },
      { prepareAs: () => gid },
    );
    expect(await got()).toBe(false);
    await database.commitPrepared(gid);
    expect(await got()).toBe(true);
  });

  it('whose PREPARE got no reply is not decided: unavailable, and whoever knows the name rolls it back', async () => {
    await using wire = await wireTo(server.url);
    await using behind = await openDatabase(wire.url, { poolSize: 1 });
    const gid = aGid();
    wire.loseReplyTo('prepare transaction');
    const error = await failure(insertItem(50, { prepareAs: () => gid, commitPrepared: true }, behind.database));
    expect(error).not.toBeInstanceOf(OutcomeUnknownError);
    expect(codeOf(error)).toBe('DATABASE_UNAVAILABLE');
    expect(await database.rollbackPrepared(gid)).toBe(true);
    expect(await isThere(50)).toBe(false);
  });

  it('whose COMMIT PREPARED got no reply is unknown, and here it had happened', async () => {
    await using wire = await wireTo(server.url);
    await using behind = await openDatabase(wire.url, { poolSize: 1 });
    wire.loseReplyTo('commit prepared');
    const error = await failure(insertItem(60, { prepareAs: aGid, commitPrepared: true }, behind.database));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect([await isThere(60), await preparedIn(server)]).toEqual([true, []]);
  });

  it('that somebody else has rolled back meanwhile is never called committed', async () => {
    await using wire = await wireTo(server.url);
    await using behind = await openDatabase(wire.url, { poolSize: 1 });
    const gid = aGid();
    const held = wire.hold('request', 'commit prepared');
    const late = failure(insertItem(70, { prepareAs: () => gid, commitPrepared: true }, behind.database));
    const commit = await held;
    expect(await database.rollbackPrepared(gid)).toBe(true);
    commit.letGo();
    expect(codeOf(await late)).toBe('DATABASE_UNAVAILABLE');
    expect(await isThere(70)).toBe(false);
  });
});
