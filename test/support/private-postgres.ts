import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import pg from 'pg';
import { serverAccount, temporaryFolder } from '../../tools/accounts.mjs';
import { startPostgres } from '../../tools/postgres.mjs';
import { findPostgres, findShippedPostgres } from '../../tools/programs.mjs';

export interface PrivatePostgres extends AsyncDisposable {
  /** Of a new, empty database. */
  database(name: string): Promise<string>;
}

/** A PostgreSQL of one spec's own, for what is a setting of the whole server. */
export async function privatePostgres(settings: Record<string, string>): Promise<PrivatePostgres> {
  const native = findPostgres();
  const folder = temporaryFolder(serverAccount(undefined));
  const children: ChildProcess[] = [];
  const run = { addProcess: (_kind: string, _name: string, child: ChildProcess) => children.push(child) };
  const { url } = await startPostgres({
    run,
    program: native.missing ? findShippedPostgres() : native,
    wanted: join(folder, 'postgres'),
    password: 'only-for-this-spec',
    durable: false,
    log: join(folder, 'postgres.log'),
    settings,
  });
  return {
    database: async (name) => {
      const client = new pg.Client({ connectionString: url('postgres') });
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      return url(name);
    },
    [Symbol.asyncDispose]: async () => {
      for (const child of children) {
        const ended = once(child, 'exit');
        if (child.kill('SIGINT')) await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
