import { Database, PostgresModule, type PostgresOptions } from '@firstcome/postgres';
import { NestFactory } from '@nestjs/core';

export interface OpenDatabase extends AsyncDisposable {
  database: Database;
}

/** The library as an app gets it, without the app. */
export async function openDatabase(url: string, overrides: Partial<PostgresOptions> = {}): Promise<OpenDatabase> {
  const options = { url, poolSize: 4, applicationName: 'spec', migrations: [], ...overrides };
  const context = await NestFactory.createApplicationContext(PostgresModule.forRoot(options), {
    logger: false,
    abortOnError: false,
  });
  return { database: context.get(Database), [Symbol.asyncDispose]: () => context.close() };
}
