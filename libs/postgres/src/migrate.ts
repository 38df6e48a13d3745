import pg from 'pg';
import { DataSource } from 'typeorm';

// Any number, the same in every instance. A database belongs to one app, so that apps do not wait for each other.
const MIGRATION_LOCK = 4_611_686_018_427;

interface MigrateOptions {
  url: string;
  migrations: Function[];
}

/**
 * Runs what was not run yet, each migration in its own transaction. Instances that start together line up at an advisory
 * lock: the second finds the work done. On connections of its own, since a pool of one would wait for itself, and without
 * the deadlines of requests.
 */
export async function migrate({ url, migrations }: MigrateOptions): Promise<void> {
  const lock = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, application_name: 'migrate' });
  lock.on('error', () => undefined);
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const dataSource = new DataSource({
      type: 'postgres',
      url,
      poolSize: 1,
      migrations,
      migrationsTransactionMode: 'each',
      migrationsTableName: 'migrations',
    });
    await dataSource.initialize();
    try {
      await dataSource.runMigrations();
    } finally {
      await dataSource.destroy();
    }
  } finally {
    // Ends the session, and the lock with it.
    await lock.end();
  }
}
