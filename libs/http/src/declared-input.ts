import type { INestApplication } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { listRoutes } from './routes.js';

// The keys of Nest's own parameter decorators in the metadata of a handler: `<type>:<index>`.
const BODY = '3:';
const QUERY = '4:';
const PARAM = '5:';

/** Which parts of a request a handler declared a DTO for. */
export interface DeclaredInput {
  body: boolean;
  query: boolean;
}

type Arguments = Record<string, { index: number; data?: unknown }>;

export function declaredInput(controller: Function, handler: string): DeclaredInput {
  const keys = Object.keys(argumentsOf(controller, handler));
  return { body: keys.some((key) => key.startsWith(BODY)), query: keys.some((key) => key.startsWith(QUERY)) };
}

/**
 * At start: every body and query is a whole DTO class, and path parameters are @PathId, @PathUuid or @PathName. Anything looser,
 * such as @Body('name') or an interface, would walk past the validation without a word.
 */
export function refuseLooseHandlers(app: INestApplication): void {
  for (const { controller, handler } of listRoutes(app)) {
    const types = Reflect.getMetadata('design:paramtypes', controller.prototype as object, handler) as unknown[];
    for (const [key, { data, index }] of Object.entries(argumentsOf(controller, handler))) {
      const where = `${controller.name}.${handler}(), parameter ${index + 1}`;
      if (key.startsWith(PARAM))
        throw new Error(`${where}: use @PathId(), @PathUuid() or @PathName() instead of @Param().`);
      if (!key.startsWith(BODY) && !key.startsWith(QUERY)) continue;
      if (data !== undefined) throw new Error(`${where}: take the whole body or query as a DTO class.`);
      if (!isDto(types[index])) throw new Error(`${where}: its type must be a DTO class, imported as a value.`);
    }
  }
}

function isDto(type: unknown): boolean {
  return typeof type === 'function' && ![Object, Array, String, Number, Boolean].includes(type as never);
}

function argumentsOf(controller: Function, handler: string): Arguments {
  return (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler) ?? {}) as Arguments;
}
