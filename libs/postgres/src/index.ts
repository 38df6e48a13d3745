export { Database, type PoolStats, type TransactionOptions } from './database.js';
export {
  DatabaseUnavailableError,
  isCheckViolation,
  isUniqueViolation,
  OutcomeUnknownError,
  TransactionTimeoutError,
} from './errors.js';
export { checkInvariants, type Ask, type CheckedInvariant, type Invariant } from './invariants.js';
export { migrate } from './migrate.js';
export { PostgresModule, type PostgresOptions } from './postgres.module.js';
export { databaseErrors, databaseProblem } from './problems.js';
export { sql, type Statement } from './statement.js';
export type { Transaction } from './transaction.js';
