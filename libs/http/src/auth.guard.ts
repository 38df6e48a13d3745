import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ACCESS, type Access, type User } from './auth.js';
import { bearerToken } from './bearer.js';
import { httpErrors } from './http.errors.js';
import { TokenVerifier } from './token-verifier.js';

@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: TokenVerifier,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const access =
      this.reflector.getAllAndOverride<Access | undefined>(ACCESS, [context.getHandler(), context.getClass()]) ??
      'user';
    if (access === 'public') return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const token = bearerToken(request.headers);
    if (token === undefined) throw httpErrors.UNAUTHENTICATED();
    if (access === 'service' && this.tokens.isServiceToken(token)) return true;
    const user = this.tokens.inTurn(token);
    return user instanceof Promise ? user.then((late) => admit(request, access, late)) : admit(request, access, user);
  }
}

function admit(request: FastifyRequest, access: Access, user: User | undefined): true {
  if (!user) throw httpErrors.UNAUTHENTICATED({ headers: invalidToken });
  if (access === 'service' || (access === 'admin' && !user.admin)) throw httpErrors.FORBIDDEN();
  request.user = user;
  return true;
}

const invalidToken = { 'www-authenticate': 'Bearer realm="firstcome", error="invalid_token"' };
