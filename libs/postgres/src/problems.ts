import { DatabaseError } from 'pg';
import {
  DatabaseUnavailableError,
  OutcomeUnknownError,
  PreparedTransactionBusyError,
  PreparedTransactionGoneError,
  PreparedTransactionsOffError,
  TransactionTimeoutError,
} from './errors.js';

/** Shaped as the problems of @firstcome/http, which this library does not import. */
interface DatabaseProblem {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number;
}

export const databaseErrors = {
  DATABASE_UNAVAILABLE: {
    code: 'DATABASE_UNAVAILABLE',
    status: 503,
    title: 'The database cannot be used right now',
    detail:
      'It is down, or gave no connection in time. Repeat the request, with the same Idempotency-Key if it had one.',
    retryable: true,
    retryAfterMs: 1000,
  },
  CONCURRENT_UPDATE: {
    code: 'CONCURRENT_UPDATE',
    status: 409,
    title: 'Somebody else changed the same thing at the same time',
    detail: 'Nothing was done. Repeat the request.',
    retryable: true,
    retryAfterMs: 1000,
  },
} as const satisfies Record<string, DatabaseProblem>;

// serialization_failure, deadlock_detected, lock_not_available
const CONTENTION = new Set(['40001', '40P01', '55P03']);
// query_canceled (statement_timeout), idle_in_transaction_session_timeout, transaction_timeout
const TOO_SLOW = new Set(['57014', '25P03', '25P04']);
// connection exceptions, insufficient resources (too many connections, disk full, out of memory), operator intervention
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58']);

// Each of them says in the log what happened; the client can only come back.
const unavailableErrors = [DatabaseUnavailableError, TransactionTimeoutError, PreparedTransactionsOffError];

/** SQLSTATE to problem, in this one place; undefined for a mistake of ours, which stays a 500. */
export function databaseProblem(error: unknown): DatabaseProblem | undefined {
  if (error instanceof OutcomeUnknownError) {
    const detail = 'The connection broke during COMMIT: it may have happened. Repeat it with the same Idempotency-Key.';
    return { ...databaseErrors.DATABASE_UNAVAILABLE, detail };
  }
  if (error instanceof PreparedTransactionBusyError) return databaseErrors.CONCURRENT_UPDATE;
  if (error instanceof PreparedTransactionGoneError) {
    const detail =
      'It took too long between its two phases and was rolled back. Repeat it with the same Idempotency-Key.';
    return { ...databaseErrors.DATABASE_UNAVAILABLE, detail };
  }
  if (unavailableErrors.some((kind) => error instanceof kind)) return databaseErrors.DATABASE_UNAVAILABLE;
  if (!(error instanceof DatabaseError) || error.code === undefined) return undefined;
  if (CONTENTION.has(error.code)) return databaseErrors.CONCURRENT_UPDATE;
  const unavailable = TOO_SLOW.has(error.code) || UNAVAILABLE_CLASSES.has(error.code.slice(0, 2));
  return unavailable ? databaseErrors.DATABASE_UNAVAILABLE : undefined;
}
