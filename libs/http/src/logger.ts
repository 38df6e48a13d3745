import { Logger as PinoNestLogger, PinoLogger } from 'nestjs-pino';
import { pino } from 'pino';
import { requestContext } from './request-context.js';

/** Lines, not requests: nothing is logged for a request that went well. Each line carries the id of its request. */
export function installLogger({ name, logLevel }: { name: string; logLevel: string }): PinoNestLogger {
  const logger = pino({
    name,
    level: logLevel,
    redact: { paths: ['authorization', '*.authorization', '*.headers.authorization', '*.password', '*.secret'] },
    mixin: () => {
      const context = requestContext.getStore();
      return context ? { requestId: context.requestId } : {};
    },
  });
  return new PinoNestLogger(new PinoLogger({ pinoHttp: { logger } }), {});
}
