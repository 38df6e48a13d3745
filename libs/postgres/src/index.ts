export { Database, type PoolStats } from './database.js';
export {
  DatabaseUnavailableError,
  isCheckViolation,
  isUniqueViolation,
  OutcomeUnknownError,
  PreparedTransactionBusyError,
  PreparedTransactionGoneError,
  PreparedTransactionsOffError,
  TransactionTimeoutError,
} from './errors.js';
export { checkInvariants, nothingLeftPrepared, type Ask, type CheckedInvariant, type Invariant } from './invariants.js';
export { migrate } from './migrate.js';
export { PostgresModule, type PostgresOptions } from './postgres.module.js';
export { databaseErrors, databaseProblem } from './problems.js';
export { sql, type Statement } from './statement.js';
export type { Transaction, TransactionOptions } from './transaction.js';
