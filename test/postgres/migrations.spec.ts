import { sql } from '@firstcome/postgres';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { openDatabase } from './open-database.js';

class First1763400000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Slow enough for the other instance to arrive meanwhile.
    await runner.query('create table things (id int primary key); select pg_sleep(0.3)');
  }
  async down(): Promise<void> {}
}

class Second1763400000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('insert into things values (1)');
  }
  async down(): Promise<void> {}
}

class Broken1763400000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('insert into things values (2)');
    await runner.query('insert into things values (1)');
  }
  async down(): Promise<void> {}
}

it('instances that start together migrate once, also with a pool of one', async () => {
  await using server = await createTestDatabase();
  const options = { poolSize: 1, migrations: [First1763400000001, Second1763400000002] };
  const opened = await Promise.all([1, 2, 3].map(() => openDatabase(server.url, options)));
  const things = await opened[0]!.database.query(sql('things', 'select id from things'));
  expect(things).toEqual([{ id: 1 }]);
  for (const each of opened) await each[Symbol.asyncDispose]();
});

it('what fails leaves nothing of itself, keeps what went before, and holds no lock', async () => {
  await using server = await createTestDatabase();
  const migrations = [First1763400000001, Second1763400000002, Broken1763400000003];
  await expect(openDatabase(server.url, { migrations })).rejects.toThrow(/duplicate key/);
  expect(await server.query('select id from things')).toEqual([{ id: 1 }]);
  await using again = await openDatabase(server.url, { migrations: migrations.slice(0, 2) });
  await again.database.check();
});
