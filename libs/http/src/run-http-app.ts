import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Lifecycle } from './lifecycle.js';

const STOP_DEADLINE_MS = 9_500;

/** Listens, says where, and stops gracefully on SIGTERM or SIGINT: inside 10 s, whatever hangs. */
export async function runHttpApp(
  app: NestFastifyApplication,
  { host, port }: { host: string; port: number },
): Promise<void> {
  const logger = new Logger('Http');
  await app.listen(port, host);
  logger.log(`Listening on ${await app.getUrl()}`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => void stop(app, signal, logger));
  }
}

async function stop(app: NestFastifyApplication, signal: string, logger: Logger): Promise<void> {
  const lifecycle = app.get(Lifecycle);
  // A second signal changes nothing: the deadline below bounds the first.
  if (lifecycle.stopping) return;
  lifecycle.stopping = true;
  logger.log(`${signal}: not ready any more, ${lifecycle.inFlight} requests to finish.`);
  setTimeout(() => {
    logger.error(`Not closed within ${STOP_DEADLINE_MS} ms, ${lifecycle.inFlight} requests unfinished: giving up.`);
    process.exit(1);
  }, STOP_DEADLINE_MS).unref();
  try {
    await app.close();
    logger.log('Closed.');
    process.exit(0);
  } catch (error) {
    logger.error({ err: error }, 'Closing failed.');
    process.exit(1);
  }
}
