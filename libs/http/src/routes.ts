import { RequestMethod, type INestApplication } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { ACCESS, type Access } from './auth.js';

export interface RouteInfo {
  method: string;
  /** With the parameters as the router writes them: `/v1/coupons/:id`. */
  path: string;
  access: Access;
  controller: Function;
  handler: string;
}

/** Every route of the controllers, with who may call it: what the role table of the tests is compared with. */
export function listRoutes(app: INestApplication): RouteInfo[] {
  const controllers = [...app.get(ModulesContainer).values()].flatMap((module) => [...module.controllers.values()]);
  return controllers.flatMap(({ metatype }) => (typeof metatype === 'function' ? routesOf(metatype) : []));
}

function routesOf(controller: Function): RouteInfo[] {
  const prototype = controller.prototype as Record<string, unknown>;
  return Object.getOwnPropertyNames(prototype).flatMap((handler) => {
    const method = Object.getOwnPropertyDescriptor(prototype, handler)?.value as Function | undefined;
    const verb: RequestMethod | undefined = method && Reflect.getMetadata(METHOD_METADATA, method);
    if (!method || verb === undefined) return [];
    const access: Access =
      Reflect.getMetadata(ACCESS, method) ?? Reflect.getMetadata(ACCESS, controller) ?? ('user' satisfies Access);
    const path = joinPath(Reflect.getMetadata(PATH_METADATA, controller), Reflect.getMetadata(PATH_METADATA, method));
    return [{ method: RequestMethod[verb], path, access, controller, handler }];
  });
}

function joinPath(...parts: string[]): string {
  return `/${parts
    .flatMap((part) => part.split('/'))
    .filter((part) => part !== '')
    .join('/')}`;
}
