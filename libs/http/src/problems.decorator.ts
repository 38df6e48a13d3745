import { ApiExtension } from '@nestjs/swagger';
import type { ProblemInfo } from './problem.js';

export const PROBLEMS_EXTENSION = 'x-problems';

/** The problems of its own that a route answers, for openapi.json. What every route may answer is added there. */
export function Problems(...problems: ProblemInfo[]): MethodDecorator {
  return ApiExtension(
    PROBLEMS_EXTENSION,
    problems.map(({ code, status, title, retryable }) => ({ code, status, title, retryable })),
  );
}
