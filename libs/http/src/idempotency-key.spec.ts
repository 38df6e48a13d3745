import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { fingerprint, idempotentRequest } from './idempotency-key.js';
import { ProblemError } from './problem.js';

const request = (changes: Record<string, unknown> = {}) =>
  ({
    headers: { 'idempotency-key': 'k' },
    user: { id: 'alice', admin: false },
    method: 'POST',
    routeOptions: { url: '/v1/orders/:id/payments' },
    params: { id: '7' },
    body: {},
    query: {},
    id: 'trace',
    ...changes,
  }) as unknown as FastifyRequest;

const keyed = (key: unknown) => () => idempotentRequest(request({ headers: { 'idempotency-key': key } }), true);

describe('an Idempotency-Key', () => {
  it.each(['a', 'x'.repeat(255), '!~"#$', '018f3c6e-0000-7000-8000-000000000000'])('may be %s', (key) => {
    expect(keyed(key)().key).toBe(key);
  });

  it.each(['', ' ', 'a b', 'a, b', 'x'.repeat(256), 'é', 'a\tb', '\u007f', ['a', 'b']])('may not be %j', (key) => {
    expect(keyed(key)).toThrow(/IDEMPOTENCY_KEY_INVALID/);
  });

  it('is missed only where it is required', () => {
    expect(keyed(undefined)).toThrow(ProblemError);
    expect(idempotentRequest(request({ headers: {} }), false)).toMatchObject({ key: undefined });
  });

  it('has the scope of user, method and path with its ids, and no part runs into the next', () => {
    const scope = (changes: Record<string, unknown>) => idempotentRequest(request(changes), true).scope;
    const scopes = [
      scope({}),
      scope({ user: { id: 'bob' } }),
      scope({ method: 'PATCH' }),
      scope({ params: { id: '8' } }),
      scope({ routeOptions: { url: '/v1/orders/:id/refunds' } }),
      scope({ user: { id: 'alice","POST' } }),
    ];
    expect(new Set(scopes).size).toBe(scopes.length);
    expect(scope({ body: { a: 1 }, query: { b: '2' } })).toBe(scopes[0]);
  });
});

describe('a fingerprint', () => {
  it('is the same for the same content in any order, and for {} as for nothing', () => {
    expect(fingerprint({ a: 1, b: { c: 2, d: 3 } }, {})).toBe(fingerprint({ b: { d: 3, c: 2 }, a: 1 }, undefined));
    expect(fingerprint(undefined, {})).toBe(fingerprint({}, {}));
  });

  it('differs by any value, type, order of items, or query', () => {
    const prints = [
      fingerprint({ a: [1, 2] }, {}),
      fingerprint({ a: [2, 1] }, {}),
      fingerprint({ a: ['1', '2'] }, {}),
      fingerprint({ a: [1, 2], b: null }, {}),
      fingerprint({ a: [1, 2] }, { pay: 'true' }),
      fingerprint({ pay: 'true' }, { a: '1' }),
    ];
    expect(new Set(prints).size).toBe(prints.length);
  });
});
