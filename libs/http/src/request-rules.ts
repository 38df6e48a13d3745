import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { accepts } from './accept.js';
import { answerCors } from './cors.js';
import type { Lifecycle } from './health.controller.js';
import { httpErrors } from './http.errors.js';
import { KnownPaths } from './known-paths.js';
import { httpDuration } from './metrics.js';
import type { ProblemError } from './problem.js';
import { requestContext, type RequestContext } from './request-context.js';
import { BODY_LIMIT } from './server-options.js';
import { parseStrictJson } from './strict-json.js';
import { serverTiming } from './timing.js';

declare module 'fastify' {
  interface FastifyRequest {
    context: RequestContext | undefined;
  }
}

const MAX_URL = 4096;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
const JSON_TYPE = /^application\/json[ \t]*(;[ \t]*charset[ \t]*=[ \t]*("utf-8"|utf-8)[ \t]*)?;?$/i;

interface Rules {
  lifecycle: Lifecycle;
  corsOrigins: string[];
}

/** What holds for every request before its handler, in this order; the first broken rule answers. */
export function installRequestRules(fastify: FastifyInstance, { lifecycle, corsOrigins }: Rules): void {
  const paths = new KnownPaths();
  const duration = httpDuration();
  const allowed = new Set(corsOrigins);
  fastify.decorateRequest('context', undefined);
  fastify.addHook('onRoute', (route) => paths.add(route.method, route.url));

  fastify.addHook('onRequest', (request, reply, done) => {
    const context: RequestContext = { requestId: request.id, timings: { lock: 0, hold: 0, db: 0 } };
    request.context = context;
    lifecycle.inFlight += 1;
    reply.header('x-request-id', request.id);
    if (lifecycle.stopping) reply.header('connection', 'close');
    if (answerCors(request, reply, allowed, paths)) return;
    requestContext.run(context, done, brokenRule(request, reply, paths, lifecycle));
  });

  fastify.addHook('onSend', (request, reply, _payload, done) => {
    if (request.context && !SAFE_METHODS.has(request.method)) {
      reply.header('server-timing', serverTiming(request.context.timings));
    }
    done();
  });

  fastify.addHook('onResponse', (request, reply, done) => {
    lifecycle.inFlight -= 1;
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    done();
  });

  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, body, done) => {
    try {
      done(null, body.length === 0 ? undefined : parseStrictJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

function brokenRule(
  request: FastifyRequest,
  reply: FastifyReply,
  paths: KnownPaths,
  lifecycle: Lifecycle,
): ProblemError | undefined {
  const { url, headers } = request.raw;
  if (headers.host === undefined && request.raw.httpVersion === '1.1') {
    return httpErrors.BAD_REQUEST({ detail: 'An HTTP/1.1 request needs a Host header.' });
  }
  if (url!.length > MAX_URL) return httpErrors.URI_TOO_LONG();
  if (request.is404) return unknownRoute(request, paths);
  if (!url!.startsWith('/v1/') && !url!.startsWith('/internal/')) return undefined;
  if (lifecycle.stopping) return httpErrors.SHUTTING_DOWN();
  if (!accepts(headers.accept)) return httpErrors.NOT_ACCEPTABLE();
  return SAFE_METHODS.has(request.method) ? undefined : brokenBodyRule(request);
}

function unknownRoute(request: FastifyRequest, paths: KnownPaths): ProblemError {
  const methods = paths.methodsOf(request.url);
  if (methods.length === 0) return httpErrors.ROUTE_NOT_FOUND();
  return httpErrors.METHOD_NOT_ALLOWED({ headers: { allow: methods.join(', ') } });
}

/** 415 only where a body is sent: an empty POST needs no media type. Where a body is due, its absence is 400. */
function brokenBodyRule({ headers }: FastifyRequest): ProblemError | undefined {
  const sent = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!sent) return undefined;
  const type = headers['content-type'];
  if (type === undefined || !JSON_TYPE.test(type) || headers['content-encoding'] !== undefined) {
    return httpErrors.UNSUPPORTED_MEDIA_TYPE();
  }
  return undefined;
}
