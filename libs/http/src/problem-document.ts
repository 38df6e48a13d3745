import type { ProblemFields } from './problem.js';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** The one place where a problem becomes bytes. `type` is a URN: it names the code, and nobody has to host a page. */
export function problemBody(problem: ProblemFields, traceId: string): string {
  const { status, code, title, detail, retryable, retryAfterMs, errors, extra } = problem;
  return JSON.stringify({
    ...extra,
    type: `urn:firstcome:problem:${code}`,
    title,
    status,
    detail,
    code,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    traceId,
    ...(errors ? { errors } : {}),
  });
}

/** Retry-After is in whole seconds, rounded up: earlier would be refused again. */
export function problemHeaders(problem: ProblemFields): Record<string, string> {
  const { retryAfterMs, headers } = problem;
  if (retryAfterMs === undefined) return headers ?? {};
  return { ...headers, 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
}
