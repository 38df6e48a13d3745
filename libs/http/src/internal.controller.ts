import { All, Controller, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ServiceOnly } from './auth.js';
import { KnownPaths } from './known-paths.js';

/** What is asked of /internal beside the routes that are there: only the other app is told what is not. */
@ServiceOnly()
@ApiExcludeController()
@Controller('internal')
export class InternalController {
  constructor(private readonly paths: KnownPaths) {}

  @All('*')
  absent(@Req() request: FastifyRequest): never {
    throw this.paths.refusal(request.url);
  }
}
