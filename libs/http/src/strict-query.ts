import { httpErrors } from './http.errors.js';
import type { ProblemError } from './problem.js';

type Query = Record<string, string>;

// The router calls the parser before anything could answer a thrown error, so a refusal waits beside its query.
const refusals = new WeakMap<object, ProblemError>();

/** Reads a query in which each key stands once and every value is text that can be stored. Never throws. */
export function parseStrictQuery(text: string): Query {
  const query: Query = Object.create(null) as Query;
  if (text === '') return query;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const key = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    if (key === undefined || value === undefined) return refused(query, httpErrors.MALFORMED_URL());
    if (key in query) return refused(query, wrong(key, 'REPEATED', 'must be given once'));
    // class-transformer skips names such as toString, so that an unknown key would pass for absent.
    if (key in Object.prototype) return refused(query, wrong(key, 'UNKNOWN_FIELD', 'is not a field of this request'));
    if (value.includes('\0')) return refused(query, wrong(key, 'INVALID', 'must not hold the character NUL'));
    query[key] = value;
  }
  return query;
}

/** Why a query was refused when it was read, if it was. */
export function queryRefusal(query: unknown): ProblemError | undefined {
  return typeof query === 'object' && query !== null ? refusals.get(query) : undefined;
}

/** Undefined for a bad escape, and for bytes that are not UTF-8. */
function decode(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function refused(query: Query, problem: ProblemError): Query {
  refusals.set(query, problem);
  return query;
}

function wrong(key: string, code: string, message: string): ProblemError {
  return httpErrors.VALIDATION_FAILED({ errors: [{ pointer: `/query/${key.slice(0, 64)}`, code, message }] });
}
