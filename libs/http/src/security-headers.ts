import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';

/** An API loads nothing; only the page under /docs is a page, and it loads from its own origin. */
export async function installSecurityHeaders(fastify: FastifyInstance): Promise<void> {
  await fastify.register(helmet, {
    // For browsers and plug-ins long gone: bytes on every answer, and nothing gained.
    xXssProtection: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xDnsPrefetchControl: false,
    originAgentCluster: false,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        // Swagger UI sets style attributes.
        styleSrc: ["'self'", "'unsafe-inline'"],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
  });
}
