import { LockAbortedError, LockError, LockQueueFullError, LockUsageError, type LockErrorCode } from '../errors.js';

/** What an HTTP client is told, in the shape of RFC 9457 without its transport. */
export interface LockProblem {
  status: number;
  code: string;
  title: string;
  detail: string;
  retryable: boolean;
  retryAfterMs: number;
}

const again = 'Repeat the request after the time in Retry-After.';
const problems = {
  LOCK_TIMEOUT: problem(
    'LOCK_TIMEOUT',
    'The turn did not come in time',
    `Too many want the same thing just now. ${again}`,
    1000,
  ),
  LOCK_LOST: problem(
    'LOCK_LOST',
    'The outcome is unknown',
    'The lock was lost while the request was worked on. Repeat it with the same Idempotency-Key to learn the outcome.',
    1000,
  ),
  LOCK_QUEUE_FULL: problem('LOCK_QUEUE_FULL', 'The waiting line is full', `The waiting line is full. ${again}`, 2000),
  LOCK_BACKEND_UNAVAILABLE: problem(
    'LOCK_BACKEND_UNAVAILABLE',
    'The lock service is unavailable',
    `The lock service did not answer. ${again}`,
    2000,
  ),
  SHUTTING_DOWN: problem('SHUTTING_DOWN', 'This instance is shutting down', `Nothing was done. ${again}`, 1000),
  CONCURRENT_UPDATE: {
    ...problem(
      'CONCURRENT_UPDATE',
      'Somebody else was faster',
      `A later change was made first; nothing was done. ${again}`,
      100,
    ),
    status: 409,
  },
};

const byCode: Record<Exclude<LockErrorCode, 'LOCK_USAGE'>, LockProblem> = {
  LOCK_TIMEOUT: problems.LOCK_TIMEOUT,
  LOCK_BUSY: problems.LOCK_TIMEOUT,
  LOCK_LOST: problems.LOCK_LOST,
  LOCK_ABORTED: problems.LOCK_TIMEOUT,
  LOCK_BACKEND_UNAVAILABLE: problems.LOCK_BACKEND_UNAVAILABLE,
  LOCK_QUEUE_FULL: problems.LOCK_QUEUE_FULL,
  STALE_FENCE: problems.CONCURRENT_UPDATE,
};

const tooLate = new Set<LockErrorCode>(['LOCK_TIMEOUT', 'LOCK_BUSY', 'LOCK_QUEUE_FULL']);

/** Every problem this library can turn an error into, for an OpenAPI document or an error catalogue. */
export const lockProblems: readonly LockProblem[] = Object.values(problems);

/** The problem for an error of this library; undefined for all others, and for wrong calls, which are bugs. */
export function lockProblem(error: unknown): LockProblem | undefined {
  if (!(error instanceof LockError) || error instanceof LockUsageError) return undefined;
  let found = byCode[error.code as keyof typeof byCode];
  if (error instanceof LockAbortedError && error.reason === 'closing') found = problems.SHUTTING_DOWN;
  const retryAfterMs =
    error instanceof LockQueueFullError
      ? Math.max(found.retryAfterMs, Math.round(error.estimateMs))
      : found.retryAfterMs;
  // The application's words are for who came too late; of a store that is down, a lost lease or an end only what is true.
  const told = tooLate.has(error.code) ? error.failureMessage : undefined;
  return { ...found, detail: told ?? found.detail, retryAfterMs };
}

function problem(code: string, title: string, detail: string, retryAfterMs: number): LockProblem {
  return { status: 503, code, title, detail, retryable: true, retryAfterMs };
}
