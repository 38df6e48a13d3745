import { Global, Logger, Module, type DynamicModule } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Database, type Measure } from './database.js';
import { migrate } from './migrate.js';
import { countPool } from './pool-metrics.js';
import { typeParsers } from './types.js';

export interface PostgresOptions {
  url: string;
  poolSize: number;
  applicationName: string;
  /** Run at start, under a lock. */
  migrations: Function[];
  /** `timing.measure` of @firstcome/http, which this library does not import. */
  measure?: Measure;
}

// Each below the deadline of a request: nothing waits for ever on either side.
const CONNECTION_TIMEOUT_MS = 950;
const STATEMENT_TIMEOUT_MS = 4_000;
const LOCK_TIMEOUT_MS = 3_000;
const IDLE_IN_TRANSACTION_MS = 5_000;

// The server is up and still recovering.
const CANNOT_CONNECT_NOW = '57P03';
const UNREACHABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', CANNOT_CONNECT_NOW]);

const logger = new Logger('Postgres');
let dataSources = 0;

@Global()
@Module({})
export class PostgresModule {
  static forRoot(options: PostgresOptions): DynamicModule {
    // TypeORM wants a name per data source; tests start several apps in one process.
    dataSources += 1;
    const name = `${options.applicationName}-${dataSources}`;
    const typeOrm = TypeOrmModule.forRootAsync({
      name,
      useFactory: () => ({
        ...dataSourceOptions(options),
        // A database that is still starting, and nothing else: a migration that failed fails again.
        retryAttempts: 10,
        retryDelay: 1000,
        toRetry: isUnreachable,
      }),
      dataSourceFactory: async (settings) => {
        await migrate(options);
        return new DataSource(settings!).initialize();
      },
    });
    const database = {
      provide: Database,
      useFactory: (dataSource: DataSource) =>
        countPool(new Database(dataSource, options.measure), options.applicationName),
      inject: [getDataSourceToken(name)],
    };
    return { module: PostgresModule, imports: [typeOrm], providers: [database], exports: [Database] };
  }
}

function isUnreachable({ code, message }: { code?: string; message: string }): boolean {
  // The pool's own timeout has no code.
  return code === undefined ? /connection timeout/.test(message) : UNREACHABLE.has(code);
}

function dataSourceOptions({ url, poolSize, applicationName }: PostgresOptions): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    poolSize,
    applicationName,
    connectTimeoutMS: CONNECTION_TIMEOUT_MS,
    // The pool has dropped it already; the next caller gets another.
    poolErrorHandler: (error: Error) => logger.warn(`An idle connection broke: ${error.message}`),
    extra: {
      types: typeParsers,
      keepAlive: true,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    },
  };
}
