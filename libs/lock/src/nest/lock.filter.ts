import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { LockError } from '../errors.js';
import { lockProblem } from './problem.js';

/** Turns lock errors into problem documents, on Express and Fastify: `app.useGlobalFilters(new LockExceptionFilter(host))`. */
@Catch(LockError)
export class LockExceptionFilter implements ExceptionFilter<LockError> {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(error: LockError, context: ArgumentsHost): void {
    const found = lockProblem(error);
    // Wrong calls are bugs, and other transports have their own way to fail.
    if (!found || context.getType() !== 'http') throw error;
    const { httpAdapter } = this.host;
    const response: unknown = context.switchToHttp().getResponse();
    httpAdapter.setHeader(response, 'Content-Type', 'application/problem+json; charset=utf-8');
    httpAdapter.setHeader(response, 'Retry-After', String(Math.ceil(found.retryAfterMs / 1000)));
    httpAdapter.reply(response, JSON.stringify({ type: 'about:blank', ...found }), found.status);
  }
}
