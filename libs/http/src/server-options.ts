import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { FastifyHttpOptions, FastifyReply, FastifyRequest } from 'fastify';
import { answerBrokenRequest } from './broken-request.js';
import type { ProblemFilter } from './problem.filter.js';
import { parseStrictQuery } from './strict-query.js';

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
    requestTimeout: REQUEST_DEADLINE_MS,
    // Longer than the idle time of common load balancers, which would otherwise send into a connection just closed.
    keepAliveTimeout: 65_000,
    http: {
      maxHeaderSize: HEADER_LIMIT,
      // The requestTimeout above is looked at this often; the default of 30 s would let a slow body live for 40.
      connectionsCheckingInterval: 1000,
      requestTimeout: REQUEST_DEADLINE_MS,
      headersTimeout: REQUEST_DEADLINE_MS,
      // Checked by our rules, where the answer is a problem document; Node's own would be an empty 400.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error as never, socket),
    frameworkErrors: (error: unknown, request: unknown, reply: unknown) =>
      filter.answer(error, request as FastifyRequest, reply as FastifyReply),
    routerOptions: {
      // A long id is a wrong id (400), not an unknown route.
      maxParamLength: HEADER_LIMIT,
      querystringParser: parseStrictQuery,
    },
  };
}

const REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

/** Taken when it is harmless in a log line and a header, else made. */
function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
}
