/** One entry of `errors`: which part of the request is wrong, as a JSON pointer. */
export interface ProblemDetail {
  pointer: string;
  code: string;
  message: string;
}

/** What an error says, whoever answers. The document on the wire (RFC 9457) is built from it in one place. */
export interface ProblemFields {
  status: number;
  code: string;
  title: string;
  detail: string;
  retryable: boolean;
  retryAfterMs?: number;
  errors?: ProblemDetail[];
  /** More members of the document, such as `userCouponId`. */
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** Turns the error of a library (database, lock) into a problem; undefined when it is not one of its own. */
export type ProblemTranslator = (error: unknown) => ProblemFields | undefined;

export class ProblemError extends Error {
  readonly problem: ProblemFields;

  constructor(problem: ProblemFields, options?: ErrorOptions) {
    super(`${problem.code}: ${problem.detail}`, options);
    this.name = 'ProblemError';
    this.problem = problem;
  }
}

/** The static part of a problem: enough for docs/errors.md and openapi.json. */
export interface ProblemInfo {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

export interface ProblemDefinition {
  status: number;
  title: string;
  /** What happened and what to do now. */
  detail: string;
  retryable?: boolean;
  retryAfterMs?: number;
  headers?: Record<string, string>;
}

export interface ProblemOverrides {
  detail?: string;
  errors?: ProblemDetail[];
  extra?: Record<string, unknown>;
  retryAfterMs?: number;
  headers?: Record<string, string>;
  cause?: unknown;
}

export interface DefinedProblem extends ProblemInfo {
  (overrides?: ProblemOverrides): ProblemError;
}

/** One table of errors: `throw couponErrors.COUPON_SOLD_OUT()`. A code is written once, as its key. */
export function defineProblems<Code extends string>(
  definitions: Record<Code, ProblemDefinition>,
): Readonly<Record<Code, DefinedProblem>> {
  const problems = {} as Record<Code, DefinedProblem>;
  for (const code of Object.keys(definitions) as Code[]) problems[code] = define(code, definitions[code]);
  return Object.freeze(problems);
}

function define(code: string, definition: ProblemDefinition): DefinedProblem {
  const { status, title, detail, retryable = false, retryAfterMs, headers } = definition;
  const info: ProblemInfo = { code, status, title, detail, retryable, retryAfterMs };
  const create = (overrides: ProblemOverrides = {}): ProblemError => {
    const { cause, ...rest } = overrides;
    const fields = { ...info, ...rest, headers: { ...headers, ...rest.headers } };
    return new ProblemError(fields, cause === undefined ? undefined : { cause });
  };
  return Object.freeze(Object.assign(create, info));
}
