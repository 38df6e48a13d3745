import { createParamDecorator, SetMetadata, type CustomDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

export interface AuthOptions {
  /** The HS256 key of the tokens, or where the public keys of those who sign them are: one of the two. */
  secret?: string;
  jwksUrl?: string;
  issuer: string;
  audience: string;
  serviceToken: string;
}

export interface User {
  /** The token's `sub`. */
  id: string;
  admin: boolean;
}

/** Who may call a route. Without a decorator: any valid user token. */
export type Access = 'public' | 'user' | 'admin' | 'service';

export const ACCESS = 'firstcome:access';
export const Public = (): CustomDecorator => SetMetadata(ACCESS, 'public' satisfies Access);
export const AdminOnly = (): CustomDecorator => SetMetadata(ACCESS, 'admin' satisfies Access);
export const ServiceOnly = (): CustomDecorator => SetMetadata(ACCESS, 'service' satisfies Access);

declare module 'fastify' {
  interface FastifyRequest {
    user?: User;
  }
}

/** The user of a request. Only for routes that need a user token. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): User => {
  const { user } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!user) throw new Error('@CurrentUser() on a route without a user: remove @Public() or @ServiceOnly().');
  return user;
});
