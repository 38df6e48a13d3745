import type { CanActivate, ExecutionContext, INestApplication } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import type { FastifyRequest } from 'fastify';
import { httpErrors } from './http.errors.js';
import { listRoutes } from './routes.js';

// The keys of Nest's own parameter decorators in the metadata of a handler: `<type>:<index>`.
const BODY = '3:';
const QUERY = '4:';
const PARAM = '5:';

interface Declared {
  body: boolean;
  query: boolean;
}

type Arguments = Record<string, { index: number; data?: unknown }>;

/** What no DTO was declared for is not ignored but refused: a body or a query on a route without one, a body missing. */
export class StrictInputGuard implements CanActivate {
  private readonly declared = new WeakMap<Function, Declared>();

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const { body, query } = context.switchToHttp().getRequest<FastifyRequest>();
    const expected = this.declaredBy(context);
    if (expected.body && body === undefined) {
      throw httpErrors.MALFORMED_JSON({ detail: 'The body is empty. Send one JSON object, encoded in UTF-8.' });
    }
    if (!expected.body && isFilled(body)) throw unknownFields('', body);
    if (!expected.query && isFilled(query)) throw unknownFields('/query', query);
    return true;
  }

  private declaredBy(context: ExecutionContext): Declared {
    const handler = context.getHandler();
    const known = this.declared.get(handler);
    if (known) return known;
    const keys = Object.keys(argumentsOf(context.getClass(), handler.name));
    const declared = {
      body: keys.some((key) => key.startsWith(BODY)),
      query: keys.some((key) => key.startsWith(QUERY)),
    };
    this.declared.set(handler, declared);
    return declared;
  }
}

/** At start: every body and query is a whole, validated DTO, and path parameters are @PathId or @PathUuid. */
export function refuseLooseHandlers(app: INestApplication): void {
  for (const { controller, handler } of listRoutes(app)) {
    for (const [key, { data, index }] of Object.entries(argumentsOf(controller, handler))) {
      const where = `${controller.name}.${handler}(), parameter ${index + 1}`;
      if (key.startsWith(PARAM)) throw new Error(`${where}: use @PathId() or @PathUuid() instead of @Param().`);
      if (!key.startsWith(BODY) && !key.startsWith(QUERY)) continue;
      if (data !== undefined) throw new Error(`${where}: take the whole body or query as a DTO class.`);
      const types = Reflect.getMetadata('design:paramtypes', controller.prototype as object, handler) as unknown[];
      const type = types[index];
      if (typeof type !== 'function' || [Object, Array, String, Number, Boolean].includes(type as never)) {
        throw new Error(`${where}: its type must be a DTO class, imported as a value, or nothing is validated.`);
      }
    }
  }
}

function argumentsOf(controller: Function, handler: string): Arguments {
  return (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler) ?? {}) as Arguments;
}

function isFilled(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function unknownFields(path: string, value: object) {
  const message = 'is not a field of this request';
  const names = Object.keys(value).slice(0, 20);
  return httpErrors.VALIDATION_FAILED({
    errors: names.map((name) => ({ pointer: `${path}/${name.slice(0, 64)}`, code: 'UNKNOWN_FIELD', message })),
  });
}
