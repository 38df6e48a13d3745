import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { FastifyHttpOptions, FastifyReply, FastifyRequest } from 'fastify';
import { answerBrokenRequest } from './broken-request.js';
import type { ProblemFilter } from './problem.filter.js';

export const BODY_LIMIT = 32 * 1024;
const HEADER_LIMIT = 16 * 1024;
const REQUEST_DEADLINE_MS = 10_000;

export function serverOptions(
  { trustProxy }: { trustProxy: string | boolean },
  filter: ProblemFilter,
): FastifyHttpOptions<Server> & { skipMiddie: boolean } {
  return {
    // Fastify's own logger costs two lines per request; ours is asked for lines, not for requests.
    logger: false,
    skipMiddie: true,
    trustProxy,
    bodyLimit: BODY_LIMIT,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: (request) => requestId(request.headers['x-request-id']),
    http: {
      maxHeaderSize: HEADER_LIMIT,
      // The top-level requestTimeout alone never fires for a slow body.
      requestTimeout: REQUEST_DEADLINE_MS,
      headersTimeout: REQUEST_DEADLINE_MS,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 65_000,
      // Checked by our rules, where the answer is a problem document; Node's own would be an empty 400.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error as never, socket),
    frameworkErrors: (error: unknown, request: unknown, reply: unknown) =>
      filter.answer(error, request as FastifyRequest, reply as FastifyReply),
    routerOptions: {
      // A long id is a wrong id (400), not an unknown route.
      maxParamLength: HEADER_LIMIT,
    },
  };
}

const REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

/** Taken when it is harmless in a log line and a header, else made. */
function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
}
