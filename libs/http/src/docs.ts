import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { HttpOptions } from './http-app.js';
import { documentProblems } from './openapi-problems.js';

/** /docs to read and try, /openapi.json for programs. */
export function installDocs(app: NestFastifyApplication, options: HttpOptions): void {
  const document = openApiDocument(app, options);
  SwaggerModule.setup('docs', app, document, { jsonDocumentUrl: 'openapi.json', yamlDocumentUrl: 'openapi.yaml' });
}

function openApiDocument(app: NestFastifyApplication, { name, version, problems }: HttpOptions): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle(`Firstcome ${name}`)
    .setDescription('Errors are application/problem+json; `code` is the contract, and docs/errors.md lists them all.')
    .setVersion(version)
    .addBearerAuth()
    .build();
  const document = SwaggerModule.createDocument(app, config);
  documentProblems(document, app, problems);
  return document;
}
