import { createHash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { httpErrors } from './http.errors.js';
import type { Answer, IdempotentRequest } from './idempotency.js';
import { PROBLEM_TYPE } from './problem-document.js';

const KEY = /^[\x21-\x7e]{1,255}$/;

interface IdempotencyKeyOptions {
  required: boolean;
}

const idempotencyKeyParam = createParamDecorator(
  ({ required }: IdempotencyKeyOptions, context: ExecutionContext): IdempotentRequest =>
    idempotentRequest(context.switchToHttp().getRequest<FastifyRequest>(), required),
);

/** The request as idempotency sees it: key, scope, fingerprint. */
export function IdempotencyKey(options: IdempotencyKeyOptions): ParameterDecorator {
  return (target, key, index) => {
    idempotencyKeyParam(options)(target, key, index);
    const method = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (!method) return;
    const schema = { type: 'string' as const, minLength: 1, maxLength: 255 };
    ApiHeader({ name: 'Idempotency-Key', required: options.required, schema })(target, key!, method);
  };
}

export function idempotentRequest(request: FastifyRequest, required: boolean): IdempotentRequest {
  const key = readKey(request, required);
  const user = request.user?.id ?? '';
  return {
    key,
    scope: key === undefined ? '' : JSON.stringify([user, request.method, pathOf(request)]),
    fingerprint: key === undefined ? '' : fingerprint(request.body, request.query),
    traceId: request.id,
  };
}

/** Sends a decided answer as it stands. */
export function sendAnswer(reply: FastifyReply, answer: Answer): void {
  if (answer.headers) reply.headers(answer.headers);
  if (answer.replayed) reply.header('idempotency-replayed', 'true');
  const type = answer.status < 400 ? 'application/json; charset=utf-8' : PROBLEM_TYPE;
  void reply.status(answer.status).type(type).send(answer.body);
}

function readKey(request: FastifyRequest, required: boolean): string | undefined {
  // Node joins two headers of one name with ", "; the space makes the joined key invalid.
  const key = request.headers['idempotency-key'];
  if (key === undefined) {
    if (required) throw httpErrors.IDEMPOTENCY_KEY_REQUIRED();
    return undefined;
  }
  if (typeof key !== 'string' || !KEY.test(key)) throw httpErrors.IDEMPOTENCY_KEY_INVALID();
  return key;
}

/** The route with its decoded ids, so that `/orders/%31` is no second scope beside `/orders/1`. */
function pathOf(request: FastifyRequest): string {
  return JSON.stringify([request.routeOptions.url, request.params]);
}

/** Equal for requests that say the same, whatever the order of their members. An empty body counts as `{}`. */
export function fingerprint(body: unknown, query: unknown): string {
  return createHash('sha256')
    .update(canonical(body ?? {}))
    .update('\0')
    .update(canonical(query ?? {}))
    .digest('base64url');
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
