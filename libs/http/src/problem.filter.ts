import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { httpErrors } from './http.errors.js';
import { ProblemError, type DefinedProblem, type ProblemFields, type ProblemTranslator } from './problem.js';
import { PROBLEM_TYPE, problemBody, problemHeaders } from './problem-document.js';

const fastifyProblems: Record<string, DefinedProblem> = {
  FST_ERR_BAD_URL: httpErrors.MALFORMED_URL,
  FST_ERR_CTP_BODY_TOO_LARGE: httpErrors.PAYLOAD_TOO_LARGE,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: httpErrors.UNSUPPORTED_MEDIA_TYPE,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: httpErrors.BAD_REQUEST,
  FST_ERR_MAX_PARAM_LENGTH: httpErrors.URI_TOO_LONG,
  FST_ERR_NOT_FOUND: httpErrors.ROUTE_NOT_FOUND,
};

// Under load an outage would write a line per request.
const QUIET_MS = 5_000;

/** The one filter: whoever threw, and whatever it threw, becomes the same document. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('Problem');
  private readonly quietUntil = new Map<string, number>();

  constructor(private readonly translators: ProblemTranslator[]) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const problem = this.problemOf(error);
    if (problem.status >= 500) this.report(problem, error, request.id);
    // The headers are out: nothing can be said any more, and silence would look like success.
    if (reply.sent || reply.raw.headersSent) reply.raw.destroy();
    else {
      // Fastify would close the connection under a client that still sends, which then may never read the 413. Node
      // reads the rest and drops it, within the request's deadline.
      if (problem.status === 413) reply.removeHeader('connection');
      sendProblem(reply, problem, request.id);
    }
  }

  /** A mistake of ours each time, with its stack; an outage once in a while, with its cause. */
  private report({ status, code }: ProblemFields, error: unknown, traceId: string): void {
    if (status === 500) {
      this.logger.error({ err: error, traceId }, 'The server failed.');
      return;
    }
    const now = performance.now();
    if (now < (this.quietUntil.get(code) ?? 0)) return;
    this.quietUntil.set(code, now + QUIET_MS);
    this.logger.warn(
      { err: error, traceId, code },
      `Answered ${code}; more of them are not logged for ${QUIET_MS} ms.`,
    );
  }

  private problemOf(error: unknown): ProblemFields {
    if (error instanceof ProblemError) return error.problem;
    for (const translate of this.translators) {
      const problem = translate(error);
      if (problem) return problem;
    }
    return frameworkProblem(error)().problem;
  }
}

/** What Fastify or Nest threw. Nest wraps the errors of Fastify, whose code says which one it was. */
function frameworkProblem(error: unknown): DefinedProblem {
  const cause = error instanceof HttpException ? (error.cause ?? error) : error;
  const { code, statusCode } = (cause ?? {}) as { code?: unknown; statusCode?: unknown };
  const known = typeof code === 'string' ? fastifyProblems[code] : undefined;
  if (known) return known;
  const status = error instanceof HttpException ? error.getStatus() : statusCode;
  if (status === 404) return httpErrors.ROUTE_NOT_FOUND;
  // The client's doing, such as an upload that it broke off: nobody may be there to read it.
  if (typeof status === 'number' && status >= 400 && status < 500) return httpErrors.BAD_REQUEST;
  return httpErrors.INTERNAL_ERROR;
}

export function sendProblem(reply: FastifyReply, problem: ProblemFields, traceId: string): void {
  void reply
    .status(problem.status)
    .headers(problemHeaders(problem))
    .type(PROBLEM_TYPE)
    .send(problemBody(problem, traceId));
}
