import { DatabaseError } from 'pg';
import { sql } from './statement.js';

// A name goes into PREPARE TRANSACTION as a literal, since that command takes no parameters: so nothing but these.
const GID = /^[A-Za-z0-9_-]{1,199}$/;

const UNDEFINED_OBJECT = '42704';
// PREPARE where max_prepared_transactions is 0; COMMIT or ROLLBACK PREPARED of one that somebody else is just ending.
const OBJECT_NOT_IN_PREREQUISITE_STATE = '55000';

export function literalOf(gid: string): string {
  if (!GID.test(gid)) throw new Error(`${JSON.stringify(gid)} is no name of a prepared transaction.`);
  return `'${gid}'`;
}

export const isAbsent = (error: unknown): boolean => hasCode(error, UNDEFINED_OBJECT);
export const isNotNow = (error: unknown): boolean => hasCode(error, OBJECT_NOT_IN_PREREQUISITE_STATE);

function hasCode(error: unknown, code: string): boolean {
  return error instanceof DatabaseError && error.code === code;
}

// By the clock of the database, which is the one that wrote down when.
export const preparedStatement = sql(
  'prepared-transactions',
  `select gid from pg_prepared_xacts
    where database = current_database() and prepared <= now() - make_interval(secs => $1::float8 / 1000)
    order by prepared`,
);
export const preparedLimitStatement = sql(
  'prepared-limit',
  `select current_setting('max_prepared_transactions')::int as "limit"`,
);
