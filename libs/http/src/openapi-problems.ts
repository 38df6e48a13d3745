import { STATUS_CODES } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { httpErrors } from './http.errors.js';
import type { ProblemInfo } from './problem.js';
import { PROBLEMS_EXTENSION } from './problems.decorator.js';
import { listRoutes, type RouteInfo } from './routes.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']> & { [PROBLEMS_EXTENSION]?: ProblemInfo[] };

const PROBLEM_SCHEMA = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'retryable', 'traceId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string' },
    retryable: { type: 'boolean' },
    retryAfterMs: { type: 'integer' },
    traceId: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'code', 'message'],
        properties: { pointer: { type: 'string' }, code: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
} as const;

/**
 * Writes every problem a route may answer into its operation: what its @Problems() names, what this library answers on
 * such a route, and what the app listed and no route claims (a database that is away concerns them all).
 */
export function documentProblems(document: OpenAPIObject, app: INestApplication, listed: ProblemInfo[]): void {
  // A wildcard only says that nothing else is there: it is no operation.
  const listedRoutes = listRoutes(app).filter(({ path }) => !path.endsWith('*'));
  const routes = listedRoutes.map((route) => ({ route, operation: operationOf(document, route) }));
  const claimed = new Set(routes.flatMap(({ operation }) => claimedBy(operation).map(({ code }) => code)));
  const general = listed.filter(({ code }) => !claimed.has(code) && !(code in httpErrors));
  document.components = { ...document.components };
  document.components.schemas = { ...document.components.schemas, Problem: PROBLEM_SCHEMA as never };
  for (const { route, operation } of routes) {
    // Left out on purpose, by @ApiExclude…().
    if (!operation) continue;
    const versioned = route.path.startsWith('/v1/') || route.path.startsWith('/internal/');
    const problems = [...claimedBy(operation), ...ownProblems(route, operation), ...(versioned ? general : [])];
    delete operation[PROBLEMS_EXTENSION];
    if (route.access !== 'public') operation.security = [{ bearer: [] }];
    describe(operation, problems);
  }
}

function operationOf(document: OpenAPIObject, { method, path }: RouteInfo): Operation | undefined {
  const item = document.paths[path.replaceAll(/:([^/]+)/g, '{$1}')];
  return item?.[method.toLowerCase() as 'get'];
}

function claimedBy(operation: Operation | undefined): ProblemInfo[] {
  return operation?.[PROBLEMS_EXTENSION] ?? [];
}

/** What this library answers on a route like this one. */
function ownProblems({ method, path, access }: RouteInfo, operation: Operation): ProblemInfo[] {
  const e = httpErrors;
  const problems: ProblemInfo[] = [e.BAD_REQUEST, e.MALFORMED_URL, e.VALIDATION_FAILED, e.REQUEST_TIMEOUT];
  problems.push(e.URI_TOO_LONG, e.HEADERS_TOO_LARGE, e.INTERNAL_ERROR);
  problems.push(e.ROUTE_NOT_FOUND, e.METHOD_NOT_ALLOWED);
  if (path.startsWith('/v1/')) problems.push(e.NOT_ACCEPTABLE);
  if (path.startsWith('/v1/') || path.startsWith('/internal/')) problems.push(e.SHUTTING_DOWN);
  if (access !== 'public') problems.push(e.UNAUTHENTICATED, e.UPSTREAM_UNAVAILABLE);
  if (access === 'admin' || access === 'service') problems.push(e.FORBIDDEN);
  if (method !== 'GET') problems.push(e.MALFORMED_JSON, e.PAYLOAD_TOO_LARGE, e.UNSUPPORTED_MEDIA_TYPE);
  const key = operation.parameters?.find((each) => 'name' in each && each.name === 'Idempotency-Key');
  if (!key) return problems;
  problems.push(e.IDEMPOTENCY_KEY_INVALID, e.IDEMPOTENCY_KEY_REUSED, e.IDEMPOTENCY_IN_PROGRESS);
  if ('required' in key && key.required) problems.push(e.IDEMPOTENCY_KEY_REQUIRED);
  return problems;
}

function describe(operation: Operation, problems: ProblemInfo[]): void {
  for (const status of new Set(problems.map((problem) => problem.status))) {
    const group = problems.filter((problem) => problem.status === status);
    const titles = new Map(group.map(({ code, title }) => [code, title]));
    const list = [...titles].map(([code, title]) => `* \`${code}\`: ${title}`).join('\n');
    operation.responses[status] = {
      description: `${STATUS_CODES[status]}\n\n${list}`,
      content: {
        'application/problem+json': {
          schema: {
            allOf: [
              { $ref: '#/components/schemas/Problem' },
              { type: 'object', properties: { code: { type: 'string', enum: [...titles.keys()] } } },
            ],
          },
        },
      },
    };
  }
}
