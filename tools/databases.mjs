// What the commands do in databases, over the same drivers as the apps (present once dependencies are installed).
import { setTimeout as pause } from 'node:timers/promises';
import { UserError } from './progress.mjs';

/** Runs `work` with one connection. */
export async function withClient(url, work) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on('error', () => {}); // a server that stops is reported by the query that needed it
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Waits until the server answers; gives up when its process has ended, or after a minute (recovery after a crash takes a while). */
export async function waitForDatabase(url, ended) {
  let gone = false;
  void ended.then(() => (gone = true));
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      return await withClient(url, (client) => client.query('select 1'));
    } catch (error) {
      if (gone) throw new Error('its process ended', { cause: error });
      if (error.code === '28P01') {
        throw new Error('its data was made with another password: run npm run reset', { cause: error });
      }
      if (performance.now() > deadline) throw error;
      await pause(50);
    }
  }
}

/** Creates the database a URL names where it is missing. */
export async function ensureDatabase(url) {
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  try {
    await withClient(url, (client) => client.query('select 1'));
    return;
  } catch (error) {
    if (error.code !== '3D000')
      throw new UserError(`Cannot use ${withoutPassword(url)}: ${error.message || error.code}`);
  }
  const server = new URL(url);
  server.pathname = '/postgres';
  await withClient(server.href, (client) => client.query(`create database ${client.escapeIdentifier(name)}`));
}

/** Empties every table but the record of migrations. */
export async function truncateAll(url) {
  await withClient(url, async (client) => {
    const { rows } = await client.query(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema') and tablename !~ 'migrations$'`,
    );
    if (rows.length === 0) return;
    // A prepared transaction that its recovery has not got to yet would keep its locks on what is emptied here.
    const prepared = await client.query(
      `select format('rollback prepared %L', gid) as statement from pg_prepared_xacts where database = current_database()`,
    );
    for (const { statement } of prepared.rows) await client.query(statement);
    await client.query(`set lock_timeout = '10s'`);
    await client.query(`truncate ${rows.map(({ name }) => name).join(', ')} restart identity cascade`);
  });
}

export async function withRedis(url, work) {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: 5000,
  });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

export async function waitForRedis(url, ended) {
  let gone = false;
  void ended.then(() => (gone = true));
  const deadline = performance.now() + 30_000;
  for (;;) {
    try {
      return await withRedis(url, (redis) => redis.ping());
    } catch (error) {
      if (gone || performance.now() > deadline) throw error;
      await pause(30);
    }
  }
}

export function withoutPassword(url) {
  const shown = new URL(url);
  if (shown.password) shown.password = '***';
  return shown.href;
}
