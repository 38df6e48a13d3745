import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { HttpOptions } from './http-app.js';

export function installDocs(app: NestFastifyApplication, { name, version }: HttpOptions): void {
  const config = new DocumentBuilder().setTitle(`Firstcome ${name}`).setVersion(version).addBearerAuth().build();
  const document = SwaggerModule.createDocument(app, config);
  SwaggerModule.setup('docs', app, document, { jsonDocumentUrl: 'openapi.json', yamlDocumentUrl: 'openapi.yaml' });
}
