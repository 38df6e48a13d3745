import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { declaredInput, type DeclaredInput } from './declared-input.js';
import { httpErrors } from './http.errors.js';
import { isPlainJson } from './media-type.js';
import { parseStrictJson } from './strict-json.js';
import { queryRefusal } from './strict-query.js';

/**
 * Reads the body and the query, after the token: whoever may not call a route learns nothing from it. What no DTO was
 * declared for is refused, not ignored: a body or a query where none is expected, and no body where one is due.
 */
@Injectable()
export class StrictInputGuard implements CanActivate {
  private readonly declared = new WeakMap<Function, DeclaredInput>();

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const expected = this.declaredBy(context);
    const refusal = queryRefusal(request.query);
    if (refusal) throw refusal;
    if (!expected.query && isFilled(request.query)) throw unknownFields('/query', request.query);
    const bytes = request.body;
    if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
      if (expected.body) throw emptyBody(request);
      request.body = undefined;
      return true;
    }
    request.body = parseStrictJson(bytes);
    if (!expected.body && isFilled(request.body)) throw unknownFields('', request.body);
    return true;
  }

  private declaredBy(context: ExecutionContext): DeclaredInput {
    const handler = context.getHandler();
    const known = this.declared.get(handler);
    if (known) return known;
    const declared = declaredInput(context.getClass(), handler.name);
    this.declared.set(handler, declared);
    return declared;
  }
}

function emptyBody({ headers }: FastifyRequest) {
  const announced = headers['content-type'] !== undefined || headers['content-encoding'] !== undefined;
  if (announced && !isPlainJson(headers)) return httpErrors.UNSUPPORTED_MEDIA_TYPE();
  return httpErrors.MALFORMED_JSON({ detail: 'The body is empty. Send one JSON object, encoded in UTF-8.' });
}

function isFilled(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function unknownFields(path: string, value: object) {
  const message = 'is not a field of this request';
  const names = Object.keys(value).slice(0, 20);
  const errors = names.map((name) => ({ pointer: `${path}/${name.slice(0, 64)}`, code: 'UNKNOWN_FIELD', message }));
  return httpErrors.VALIDATION_FAILED({ errors });
}
