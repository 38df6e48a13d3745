import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { testDatabaseUrl } from './servers.js';

export interface TestDatabase extends AsyncDisposable {
  url: string;
  /** SQL past the application: to look, and to tamper. */
  query<R extends object>(text: string, values?: unknown[]): Promise<R[]>;
  /** A transaction that keeps the locks of one statement until it is let go. */
  hold(text: string, values?: unknown[]): Promise<{ letGo(): Promise<void> }>;
  /** Returns once that many sessions wait for a lock: the race is then set up, however slow the machine. */
  untilBlocked(sessions: number): Promise<void>;
  drop(): Promise<void>;
}

/** An empty database of one spec's own; the apps migrate it when they start. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `firstcome_${randomBytes(6).toString('hex')}`;
  const url = new URL(testDatabaseUrl());
  await onServer(`create database ${name}`);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  // A session that the drop below ends may still be closing; without a listener its last words would end the test run.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const drop = async () => {
    await pool.end();
    await onServer(`drop database if exists ${name} with (force)`);
  };
  return {
    url: url.href,
    query: async <R extends object>(text: string, values: unknown[] = []) => (await pool.query<R>(text, values)).rows,
    hold: async (text, values = []) => {
      const client = await pool.connect();
      await client.query('begin');
      await client.query(text, values);
      return {
        letGo: async () => {
          await client.query('rollback');
          client.release();
        },
      };
    },
    untilBlocked: async (sessions) => {
      for (let blocked = 0; blocked < sessions;) {
        const { rows } = await pool.query<{ blocked: number }>(
          `select count(*)::int as blocked from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`,
          [name],
        );
        blocked = rows[0]?.blocked ?? 0;
      }
    },
    drop,
    [Symbol.asyncDispose]: drop,
  };
}

async function onServer(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: testDatabaseUrl() });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
