import { ProblemError } from '@firstcome/http';
import { lockProblem } from '@firstcome/lock/nest';
import { databaseProblem } from '@firstcome/postgres';

export interface Close {
  code: number;
  reason: string;
}

/** Nothing is expected of a client but that it is there. */
export const unexpectedMessage: Close = { code: 1008, reason: 'MESSAGE_UNEXPECTED' };

/**
 * How a socket is told what a request would be answered: 4000 + the status of a refusal, and 1013 (try again later) for what
 * passes by itself. The reason is the code of docs/errors.md.
 */
export function closeOf(error: unknown): Close {
  const problem = error instanceof ProblemError ? error.problem : (databaseProblem(error) ?? lockProblem(error));
  if (!problem || problem.code === 'INTERNAL_ERROR') return { code: 1011, reason: 'INTERNAL_ERROR' };
  const { status, code: reason } = problem;
  if (reason === 'SHUTTING_DOWN') return { code: 1001, reason };
  return { code: status < 500 ? 4000 + status : 1013, reason };
}
