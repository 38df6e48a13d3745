import type { TestDatabase } from './database.js';

/** The names of what is prepared in this database and not ended. */
export async function preparedIn(database: TestDatabase): Promise<string[]> {
  const rows = await database.query<{ gid: string }>(
    'select gid from pg_prepared_xacts where database = current_database() order by gid',
  );
  return rows.map(({ gid }) => gid);
}

/** A database in which something is prepared cannot be dropped. */
export async function endPrepared(database: TestDatabase): Promise<void> {
  for (const gid of await preparedIn(database)) await database.query(`rollback prepared '${gid}'`);
}
