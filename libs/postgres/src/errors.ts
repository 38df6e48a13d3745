import { DatabaseError } from 'pg';

/** The reply to a COMMIT was lost: the transaction may have happened. Only a retry with the same key can tell. */
export class OutcomeUnknownError extends Error {
  constructor(options: ErrorOptions) {
    super('The connection broke during COMMIT: the transaction may or may not have happened.', options);
    this.name = 'OutcomeUnknownError';
  }
}

/** No connection could be had, or the one in use broke, before COMMIT was sent: nothing happened. */
export class DatabaseUnavailableError extends Error {
  constructor(options: ErrorOptions) {
    super('The database cannot be reached, or gave no connection in time.', options);
    this.name = 'DatabaseUnavailableError';
  }
}

/** The deadline of a transaction passed before its COMMIT was sent: it was rolled back. */
export class TransactionTimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`The transaction was rolled back: it took longer than ${timeoutMs} ms.`);
    this.name = 'TransactionTimeoutError';
  }
}

/** PREPARE TRANSACTION on a server that takes none. */
export class PreparedTransactionsOffError extends Error {
  constructor(options?: ErrorOptions) {
    super(
      'This PostgreSQL prepares no transactions: set max_prepared_transactions (64 is a good value) and restart it.',
      options,
    );
    this.name = 'PreparedTransactionsOffError';
  }
}

/** Somebody else was quicker to end what this caller had prepared: rolled back, as nobody else commits it. */
export class PreparedTransactionGoneError extends Error {
  constructor(gid: string) {
    super(`The prepared transaction ${gid} was rolled back before its COMMIT PREPARED: it had taken too long.`);
    this.name = 'PreparedTransactionGoneError';
  }
}

/** Somebody else is ending it at this moment. */
export class PreparedTransactionBusyError extends Error {
  constructor(gid: string, options: ErrorOptions) {
    super(`The prepared transaction ${gid} is being ended by another session.`, options);
    this.name = 'PreparedTransactionBusyError';
  }
}

const UNIQUE_VIOLATION = '23505';
const CHECK_VIOLATION = '23514';

export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return isViolation(error, UNIQUE_VIOLATION, constraint);
}

export function isCheckViolation(error: unknown, constraint?: string): boolean {
  return isViolation(error, CHECK_VIOLATION, constraint);
}

function isViolation(error: unknown, code: string, constraint: string | undefined): boolean {
  if (!(error instanceof DatabaseError) || error.code !== code) return false;
  return constraint === undefined || error.constraint === constraint;
}
