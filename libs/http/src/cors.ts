import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KnownPaths } from './known-paths.js';

const EXPOSED = 'X-Request-Id, Retry-After, Server-Timing, Idempotency-Replayed, Location';
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, X-Request-Id, X-Issue-Strategy, X-Stock-Strategy';

/** CORS by an exact list of origins, and OPTIONS on every known path. True when it has answered. */
export function answerCors(
  request: FastifyRequest,
  reply: FastifyReply,
  origins: ReadonlySet<string>,
  paths: KnownPaths,
): boolean {
  const { origin } = request.headers;
  const allowed = origin !== undefined && origins.has(origin);
  if (origins.size > 0) reply.header('vary', 'Origin');
  if (allowed) reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED });
  if (request.method !== 'OPTIONS') return false;
  const methods = paths.methodsOf(request.url);
  if (methods.length === 0) return false;
  const allow = [...methods, 'OPTIONS'].join(', ');
  reply.header('allow', allow);
  if (allowed) {
    reply.headers({
      'access-control-allow-methods': allow,
      'access-control-allow-headers': REQUEST_HEADERS,
      'access-control-max-age': '600',
    });
  }
  void reply.status(204).send();
  return true;
}
