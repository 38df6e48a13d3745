import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { refuseLooseHandlers } from './declared-input.js';
import { installDocs } from './docs.js';
import { KnownPaths } from './known-paths.js';
import { Lifecycle } from './lifecycle.js';
import { installLogger } from './logger.js';
import type { ProblemInfo, ProblemTranslator } from './problem.js';
import { ProblemFilter } from './problem.filter.js';
import { installRequestRules } from './request-rules.js';
import { installSecurityHeaders } from './security-headers.js';
import { serverOptions } from './server-options.js';
import { StrictValidationPipe } from './validation.js';

export interface HttpOptions {
  name: 'coupon' | 'order';
  version: string;
  /** Asked in this order for errors that are not problems yet. */
  translators: ProblemTranslator[];
  /** For openapi.json: what routes may answer beside what their own @Problems() name. */
  problems: ProblemInfo[];
  trustProxy: string | boolean;
  corsOrigins: string[];
  logLevel: string;
  docs: boolean;
}

/** A whole application, initialised and not yet listening: tests use it on port 0 as `runHttpApp` does on a real one. */
export async function createHttpApp(
  module: Type | DynamicModule,
  options: HttpOptions,
): Promise<NestFastifyApplication> {
  const logger = installLogger(options);
  const filter = new ProblemFilter(options.translators);
  const adapter = new FastifyAdapter(serverOptions(options, filter));
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    logger,
    bodyParser: false,
    abortOnError: false,
  });
  const fastify = adapter.getInstance();
  refuseLooseHandlers(app);
  // First, so that an answer of the rules carries the headers too.
  installSecurityHeaders(fastify);
  installRequestRules(fastify, {
    paths: app.get(KnownPaths),
    lifecycle: app.get(Lifecycle),
    corsOrigins: options.corsOrigins,
    logRequests: options.logLevel === 'debug' || options.logLevel === 'trace',
  });
  app.useGlobalFilters(filter);
  app.useGlobalPipes(new StrictValidationPipe());
  // Node would answer an Expect it does not know by itself, with an empty 417.
  fastify.server.on('checkExpectation', (request, response) => fastify.server.emit('request', request, response));
  if (options.docs) installDocs(app, options);
  await app.init();
  await fastify.ready();
  return app;
}
