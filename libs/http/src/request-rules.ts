import { Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { accepts } from './accept.js';
import { answerCors } from './cors.js';
import { httpErrors } from './http.errors.js';
import type { KnownPaths } from './known-paths.js';
import type { Lifecycle } from './lifecycle.js';
import { isPlainJson } from './media-type.js';
import { httpDuration } from './metrics.js';
import type { ProblemError } from './problem.js';
import { requestContext, type RequestContext } from './request-context.js';
import { serverTiming } from './timing.js';

declare module 'fastify' {
  interface FastifyRequest {
    context: RequestContext | undefined;
  }
}

const MAX_URL = 4096;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

interface Rules {
  paths: KnownPaths;
  lifecycle: Lifecycle;
  corsOrigins: string[];
  /** A debug line per request; none at other levels. */
  logRequests: boolean;
}

/** What holds for every request before its handler; the first broken rule answers. */
export function installRequestRules(fastify: FastifyInstance, rules: Rules): void {
  const { paths, lifecycle, corsOrigins, logRequests } = rules;
  const origins = new Set(corsOrigins);
  fastify.decorateRequest('context', undefined);
  fastify.addHook('onRoute', (route) => paths.add(route.method, route.url));

  fastify.addHook('onRequest', (request, reply, done) => {
    request.context = { requestId: request.id, answered: false, timings: { lock: 0, hold: 0, db: 0 } };
    lifecycle.begin(request.context, reply.raw);
    if (answerCors(request, reply, origins, paths)) return;
    requestContext.run(request.context, done, brokenRule(request, paths, lifecycle));
  });

  fastify.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('x-request-id', request.id);
    if (lifecycle.stopping) reply.header('connection', 'close');
    // A URL that the router refused has no context: no hook saw it come.
    if (request.context) {
      lifecycle.answered(request.context, reply.raw);
      if (!SAFE_METHODS.has(request.method)) reply.header('server-timing', serverTiming(request.context.timings));
    }
    done();
  });

  fastify.addHook('preClose', () => lifecycle.drain());

  // The bytes only: they are read as JSON after the token was (strict-input.guard.ts).
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  count(fastify, logRequests);
}

function count(fastify: FastifyInstance, logRequests: boolean): void {
  const duration = httpDuration();
  const logger = new Logger('Request');
  fastify.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    duration.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    if (logRequests)
      logger.debug({ requestId: request.id, method, route, status: reply.statusCode, ms: reply.elapsedTime });
    done();
  });
}

function brokenRule(request: FastifyRequest, paths: KnownPaths, lifecycle: Lifecycle): ProblemError | undefined {
  const { raw, method } = request;
  if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
    return httpErrors.BAD_REQUEST({ detail: 'An HTTP/1.1 request needs a Host header.' });
  }
  if (raw.url!.length > MAX_URL) return httpErrors.URI_TOO_LONG();
  if (request.is404) return paths.refusal(request.url);
  // The pattern and not the URL, which may also come with a scheme and a host in front.
  const route = request.routeOptions.url ?? '';
  const versioned = route.startsWith('/v1/');
  if (!versioned && !route.startsWith('/internal/')) return undefined;
  if (lifecycle.stopping) return httpErrors.SHUTTING_DOWN();
  if (versioned && !accepts(raw.headers.accept)) return httpErrors.NOT_ACCEPTABLE();
  // An empty POST needs no media type.
  if (SAFE_METHODS.has(method) || !sendsBody(request) || isPlainJson(raw.headers)) return undefined;
  return httpErrors.UNSUPPORTED_MEDIA_TYPE();
}

function sendsBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
