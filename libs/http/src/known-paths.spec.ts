import { describe, expect, it } from 'vitest';
import { KnownPaths } from './known-paths.js';

describe('known paths', () => {
  const paths = new KnownPaths();
  paths.add('GET', '/v1/items/:id');
  paths.add(['PATCH', 'HEAD'], '/v1/items/:id');
  paths.add('POST', '/v1/items/:id/issues');
  paths.add('GET', '/openapi.json');
  paths.add('DELETE', '/anything/*');

  it.each([
    ['/v1/items/7', ['GET', 'HEAD', 'PATCH']],
    ['/v1/items/7?x=/v1', ['GET', 'HEAD', 'PATCH']],
    ['/v1/items/7/issues', ['POST']],
    ['/v1/items/', []],
    ['/v1/items/7/', []],
    ['/v1/items/7/issues/8', []],
    ['/openapi.json', ['GET']],
    ['/openapixjson', []],
    ['/anything/at/all', []],
  ])('%s takes %j', (url, methods) => expect(paths.methodsOf(url)).toEqual(methods));
});
