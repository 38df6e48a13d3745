import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiParam, type ApiParamOptions } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { httpErrors } from './http.errors.js';

const ID = /^[1-9][0-9]{0,15}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const NAME = /^[A-Za-z0-9_-]{1,100}$/;

/** A positive integer up to 2^53-1 in canonical decimal; anything else is 400, never another id. */
export function parseId(text: string | undefined): number | undefined {
  if (text === undefined || !ID.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}

/** A UUID in lower case, as this system prints them: one id has one spelling. */
export function parseUuid(text: string | undefined): string | undefined {
  return text !== undefined && UUID.test(text) ? text : undefined;
}

/** Letters, digits, - and _: harmless wherever it is written. */
export function parseName(text: string | undefined): string | undefined {
  return text !== undefined && NAME.test(text) ? text : undefined;
}

const idParam = createParamDecorator((name: string, context: ExecutionContext): number => {
  const id = parseId(pathParam(context, name));
  if (id === undefined) throw wrongParam(name, 'must be a positive integer up to 9007199254740991');
  return id;
});

const uuidParam = createParamDecorator((name: string, context: ExecutionContext): string => {
  const id = parseUuid(pathParam(context, name));
  if (id === undefined) throw wrongParam(name, 'must be a UUID in lower case');
  return id;
});

const nameParam = createParamDecorator((name: string, context: ExecutionContext): string => {
  const value = parseName(pathParam(context, name));
  if (value === undefined) throw wrongParam(name, 'must be 1 to 100 letters, digits, - or _');
  return value;
});

export const PathId = (name: string): ParameterDecorator =>
  documented(idParam(name), { name, schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } });

export const PathUuid = (name: string): ParameterDecorator =>
  documented(uuidParam(name), { name, schema: { type: 'string', format: 'uuid' } });

export const PathName = (name: string): ParameterDecorator =>
  documented(nameParam(name), { name, schema: { type: 'string', pattern: NAME.source } });

function pathParam(context: ExecutionContext, name: string): string | undefined {
  return (context.switchToHttp().getRequest<FastifyRequest>().params as Record<string, string>)[name];
}

function wrongParam(name: string, message: string) {
  return httpErrors.VALIDATION_FAILED({ errors: [{ pointer: `/path/${name}`, code: 'INVALID', message }] });
}

function documented(decorator: ParameterDecorator, options: ApiParamOptions): ParameterDecorator {
  return (target, key, index) => {
    decorator(target, key, index);
    if (key === undefined) return;
    const method = Object.getOwnPropertyDescriptor(target, key);
    if (method) ApiParam(options)(target, key, method);
  };
}
