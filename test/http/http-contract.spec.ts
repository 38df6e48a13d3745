import { once } from 'node:events';
import { request } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRaw } from './raw-socket.js';
import { auth, portOf, SamplePart, startSample, token } from './sample-app.js';

let app: NestFastifyApplication;
let port: number;
let base: string;
let user: string;
let admin: string;

beforeAll(async () => {
  app = await startSample();
  port = portOf(app);
  base = `http://127.0.0.1:${port}`;
  user = await token();
  admin = await token({ sub: 'root', role: 'admin' });
});
afterAll(() => app.close());

interface Sent {
  token?: string | null;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

async function send(method: string, path: string, { token: bearer = user, headers = {}, body }: Sent = {}) {
  const json: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  const authorization: Record<string, string> = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
  const response = await fetch(`${base}${path}`, { method, headers: { ...json, ...authorization, ...headers }, body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

/** One shape whoever answers. */
function expectProblem(
  answer: { status: number; text: string; headers?: Headers; head?: string },
  status: number,
  code: string,
) {
  const problem = JSON.parse(answer.text) as Record<string, unknown>;
  expect(problem).toMatchObject({ status, code, type: `urn:firstcome:problem:${code}` });
  expect(answer.status).toBe(status);
  expect(Object.keys(problem)).toEqual(expect.arrayContaining(['title', 'detail', 'retryable', 'traceId']));
  const type = answer.headers?.get('content-type') ?? /^content-type: (.*)\r$/im.exec(answer.head ?? '')?.[1];
  expect(type).toBe('application/problem+json; charset=utf-8');
  return problem;
}

const item = { optionId: 1, quantity: 2 };
const good = JSON.stringify({ items: [item] });
const withItem = (text: string) => `{"items":[${text}]}`;
const bytes = (...values: number[]) => new Uint8Array(values);

describe('bodies', () => {
  it('takes what fits the schema', async () => {
    const answer = await send('POST', '/v1/items', { body: good });
    expect([answer.status, answer.text]).toEqual([201, good]);
  });

  const refused: [name: string, body: string | Uint8Array<ArrayBuffer>, code: string][] = [
    ['malformed JSON', '{"items":', 'MALFORMED_JSON'],
    ['two documents', `${good}${good}`, 'MALFORMED_JSON'],
    ['only blanks', '  ', 'MALFORMED_JSON'],
    ['null at the top', 'null', 'MALFORMED_JSON'],
    ['a string at the top', '"items"', 'MALFORMED_JSON'],
    ['a number at the top', '1', 'MALFORMED_JSON'],
    ['an array at the top', `[${good}]`, 'MALFORMED_JSON'],
    ['a byte order mark', `\uFEFF${good}`, 'MALFORMED_JSON'],
    ['bytes that are not UTF-8', bytes(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), 'MALFORMED_JSON'],
    ['UTF-16', new Uint8Array(Buffer.from(good, 'utf16le')), 'MALFORMED_JSON'],
    ['a raw NUL', '{"note":"\0"}', 'MALFORMED_JSON'],
    ['a key twice', `{"items":[],"items":[${JSON.stringify(item)}]}`, 'MALFORMED_JSON'],
    ['a key twice by an escape', `{"items":[],"\\u0069tems":[]}`, 'MALFORMED_JSON'],
    ['__proto__', `{"__proto__":{"items":[]},"items":[${JSON.stringify(item)}]}`, 'VALIDATION_FAILED'],
    ['constructor', `{"constructor":{"prototype":{}}}`, 'VALIDATION_FAILED'],
    ['toString, which class-transformer would skip', `{"toString":1,${good.slice(1)}`, 'VALIDATION_FAILED'],
    ['an escaped NUL', `{"note":"a\\u0000b",${good.slice(1)}`, 'VALIDATION_FAILED'],
    ['half of a surrogate pair', `{"note":"\\ud83d",${good.slice(1)}`, 'VALIDATION_FAILED'],
    ['the other half', `{"note":"\\ude00\\ud83d",${good.slice(1)}`, 'VALIDATION_FAILED'],
    ['nesting of 11', `${'{"note":'.repeat(10)}{}${'}'.repeat(10)}`, 'VALIDATION_FAILED'],
    ['a depth bomb', `{"note":${'['.repeat(16_000)}${']'.repeat(16_000)}}`, 'VALIDATION_FAILED'],
    ['a bomb of objects', `${'{"a":'.repeat(5_000)}{}${'}'.repeat(5_000)}`, 'VALIDATION_FAILED'],
    ['51 items', `{"items":[${Array(51).fill(JSON.stringify(item)).join(',')}]}`, 'VALIDATION_FAILED'],
    ['no items', '{}', 'VALIDATION_FAILED'],
    ['items {}', '{"items":{}}', 'VALIDATION_FAILED'],
    ['items []', '{"items":[]}', 'VALIDATION_FAILED'],
    ['items [null]', '{"items":[null]}', 'VALIDATION_FAILED'],
    ['items [[]]', '{"items":[[]]}', 'VALIDATION_FAILED'],
    ['items null', '{"items":null}', 'VALIDATION_FAILED'],
    ['an unknown field', `{"status":"PAID",${good.slice(1)}`, 'VALIDATION_FAILED'],
    ['an unknown field inside', withItem('{"optionId":1,"quantity":1,"price":0}'), 'VALIDATION_FAILED'],
    ...['0', '-1', '1.5', '"1"', '1e400', 'true', 'null', '1001', '[1]', '-0', '1e-400', '1.00000000000000000001'].map(
      (quantity): [string, string, string] => [
        `quantity ${quantity}`,
        withItem(`{"optionId":1,"quantity":${quantity}}`),
        'VALIDATION_FAILED',
      ],
    ),
    ...['9007199254740993', '9007199254740992', '-9007199254740993', '9.007199254740993e15'].map(
      (id): [string, string, string] => [
        `optionId ${id}`,
        withItem(`{"optionId":${id},"quantity":1}`),
        'VALIDATION_FAILED',
      ],
    ),
  ];
  it.each(refused)('refuses %s with 400', async (_, body, code) => {
    expectProblem(await send('POST', '/v1/items', { body }), 400, code);
  });

  it('takes ids up to 2^53-1, integers written with a zero fraction, and pairs of surrogates', async () => {
    const body = '{"items":[{"optionId":9007199254740991,"quantity":2.0}],"note":"\\ud83d\\ude00"}';
    const answer = await send('POST', '/v1/items', { body });
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text)).toEqual({ items: [{ optionId: 2 ** 53 - 1, quantity: 2 }], note: '😀' });
  });

  it('points at each wrong part', async () => {
    const body = '{"items":[{"optionId":1,"quantity":0},{"quantity":1,"x~/y":1}]}';
    const problem = expectProblem(await send('POST', '/v1/items', { body }), 400, 'VALIDATION_FAILED');
    const errors = problem.errors as { pointer: string; code: string }[];
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`).toSorted()).toEqual([
      '/items/0/quantity MIN',
      '/items/1/optionId IS_INT',
      '/items/1/optionId MIN',
      '/items/1/x~0~1y UNKNOWN_FIELD',
    ]);
  });

  it('is 413 above 32 kB, with a length and chunked, and the client reads the answer while it still sends', async () => {
    const large = JSON.stringify({ note: 'x'.repeat(1_000_000) });
    expectProblem(await send('POST', '/v1/items', { body: large }), 413, 'PAYLOAD_TOO_LARGE');
    const chunked = request(`${base}/v1/items`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user}`, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    });
    for (let sent = 0; sent < 40; sent += 1) chunked.write('x'.repeat(1024));
    chunked.end();
    const [response] = (await once(chunked, 'response')) as [{ statusCode: number; resume(): void }];
    response.resume();
    expect(response.statusCode).toBe(413);
  });

  it('takes 32 kB', async () => {
    const body = good.slice(0, -1) + ',"note":"' + 'x'.repeat(32 * 1024 - good.length - 10) + '"}';
    expect(Buffer.byteLength(body)).toBe(32 * 1024);
    expect((await send('POST', '/v1/items', { body })).status).toBe(201);
  });

  it.each([
    ['text/plain', good],
    ['application/x-www-form-urlencoded', 'items=1'],
    ['multipart/form-data; boundary=x', '--x--'],
    ['application/json; charset=utf-16', good],
    ['application/json; charset=iso-8859-1', good],
    ['application/vnd.api+json', good],
    ['application/jsonx', good],
    ['nonsense', good],
  ])('is 415 for a body of %s', async (type, body) => {
    const answer = await send('POST', '/v1/items', { body, headers: { 'content-type': type } });
    expectProblem(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"'])(
    'takes %s',
    async (type) => {
      expect((await send('POST', '/v1/items', { body: good, headers: { 'content-type': type } })).status).toBe(201);
    },
  );

  it.each(['gzip', 'br', 'identity', 'deflate, gzip'])('is 415 for the content encoding %s', async (encoding) => {
    const answer = await send('POST', '/v1/items', { body: good, headers: { 'content-encoding': encoding } });
    expectProblem(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  it('is 415 for a body without a media type', async () => {
    const head = `POST /v1/items HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${user}\r\ncontent-length: ${good.length}`;
    expectProblem(await sendRaw(port, [`${head}\r\n\r\n${good}`]), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  it('is 400 for an empty body where one is due, 415 where another type was announced', async () => {
    expectProblem(await send('POST', '/v1/items'), 400, 'MALFORMED_JSON');
    const json = { 'content-type': 'application/json' };
    expectProblem(await send('POST', '/v1/items', { headers: json }), 400, 'MALFORMED_JSON');
    const text = { 'content-type': 'text/plain' };
    expectProblem(await send('POST', '/v1/items', { headers: text }), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  it('takes nothing, or {}, where no body is due, and refuses any field', async () => {
    const path = '/v1/items/7/issues';
    expect((await send('POST', path)).status).toBe(201);
    expect((await send('POST', path, { headers: { 'content-type': 'text/plain' } })).status).toBe(201);
    expect((await send('POST', path, { body: '{}' })).status).toBe(201);
    expectProblem(await send('POST', path, { body: '{"userId":"bob"}' }), 400, 'VALIDATION_FAILED');
    expectProblem(await send('POST', path, { body: '[]' }), 400, 'MALFORMED_JSON');
    expectProblem(await send('POST', path, { body: 'null' }), 400, 'MALFORMED_JSON');
    const plain = { 'content-type': 'text/plain' };
    expectProblem(await send('POST', path, { body: '{}', headers: plain }), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });
});

describe('paths and queries', () => {
  it.each([
    'abc',
    '0',
    '-1',
    '1.5',
    '01',
    '+1',
    '1e3',
    '%31x',
    '12345678901234567890',
    '9007199254740992',
    '%00',
    '1%00',
  ])('is 400 for the id %s', async (id) => {
    expectProblem(await send('GET', `/v1/items/${id}`), 400, 'VALIDATION_FAILED');
  });

  it.each(['%ff', '%zz', '%', '%c0%af', '%e0%80', '%ed%a0%80'])('is 400 for the path segment %s', async (segment) => {
    const head = `GET /v1/items/${segment} HTTP/1.1\r\nhost: a`;
    expectProblem(await sendRaw(port, [`${head}\r\n\r\n`]), 400, 'MALFORMED_URL');
  });

  it.each(['abc', '7', '018f3c6e-0000-7000-8000-00000000000', '018F3C6E-0000-7000-8000-000000000000', '%7B018f%7D'])(
    'is 400 for the UUID %s',
    async (id) => void expectProblem(await send('GET', `/v1/orders/${id}`), 400, 'VALIDATION_FAILED'),
  );

  it.each([
    'limit=0',
    'limit=101',
    'limit=1000',
    'limit=-1',
    'limit=1.5',
    'limit=1e1',
    'limit=01',
    'limit=',
    'limit',
    'limit=1&limit=1',
    'limit[]=1',
    'limit=1%00',
    'cursor=',
    'offset=1',
    'toString=1',
    '__proto__=1',
    '__proto__[x]=1',
    '=1',
    'access_token=x',
  ])('is 400 for the list query ?%s', async (query) => {
    expectProblem(await send('GET', `/v1/items?${query}`), 400, 'VALIDATION_FAILED');
  });

  it.each(['limit=%zz', 'limit=%ff', '%ed%a0%80=1', 'limit=%'])('is 400 for the query ?%s', async (query) => {
    const head = `GET /v1/items?${query} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${user}`;
    expectProblem(await sendRaw(port, [`${head}\r\n\r\n`]), 400, 'MALFORMED_URL');
  });

  it('is 400 for any query on a route without one, also on a POST', async () => {
    expectProblem(await send('GET', '/v1/items/7?x=1'), 400, 'VALIDATION_FAILED');
    expectProblem(await send('POST', '/v1/items?pay=true', { body: good }), 400, 'VALIDATION_FAILED');
  });

  it('takes a list query, with its default', async () => {
    expect(JSON.parse((await send('GET', '/v1/items')).text)).toEqual({ limit: 20 });
    expect(JSON.parse((await send('GET', '/v1/items?limit=100')).text)).toEqual({ limit: 100 });
  });

  it('is 404 for an unknown path and 405 with Allow for a known one', async () => {
    expectProblem(await send('GET', '/v1/nothing'), 404, 'ROUTE_NOT_FOUND');
    expectProblem(await send('POST', '/v1/nothing', { body: '{' }), 404, 'ROUTE_NOT_FOUND');
    expectProblem(await send('GET', '/v1/items/'), 404, 'ROUTE_NOT_FOUND');
    expectProblem(await send('GET', '/V1/items'), 404, 'ROUTE_NOT_FOUND');
    for (const [method, path, allow] of [
      ['PUT', '/v1/items', 'GET, HEAD, POST'],
      ['DELETE', '/v1/items/7', 'GET, HEAD'],
      ['GET', '/v1/items/7/issues', 'POST'],
      ['PROPFIND', '/v1/items/7/issues', 'POST'],
      ['TRACE', '/livez', 'GET, HEAD'],
      ['POST', '/readyz', 'GET, HEAD'],
      ['DELETE', '/openapi.json', 'GET, HEAD'],
    ] as const) {
      if (method === 'TRACE') continue; // fetch refuses to send it; the raw one below does
      const answer = await send(method, path, { token: null });
      expect([answer.status, answer.headers.get('allow')], `${method} ${path}`).toEqual([405, allow]);
      expectProblem(answer, 405, 'METHOD_NOT_ALLOWED');
    }
    expectProblem(await sendRaw(port, ['TRACE /livez HTTP/1.1\r\nhost: a\r\n\r\n']), 405, 'METHOD_NOT_ALLOWED');
  });

  it('answers HEAD as GET without a body, and OPTIONS with the methods', async () => {
    const head = await send('HEAD', '/v1/items/7');
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '8']);
    const options = await send('OPTIONS', '/v1/items', { token: null });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
    expectProblem(await send('OPTIONS', '/v1/nothing'), 404, 'ROUTE_NOT_FOUND');
  });

  it.each([
    ['text/html', 406],
    ['text/*', 406],
    ['application/xml, image/*;q=0.5', 406],
    ['application/json;q=0', 406],
    ['*/*;q=0', 406],
    ['*/*, application/json;q=0', 406],
    ['application/json', 200],
    ['text/html, */*;q=0.1', 200],
    ['application/*', 200],
    ['APPLICATION/JSON; q=0.5', 200],
    ['application/json, application/problem+json', 200],
  ])('answers Accept: %s with %i on a /v1 route', async (accept, status) => {
    const answer = await send('GET', '/v1/items/7', { headers: { accept } });
    expect(answer.status).toBe(status);
    expect(answer.text.includes('NOT_ACCEPTABLE')).toBe(status === 406);
  });

  it('asks no Accept of what is not /v1', async () => {
    for (const path of ['/livez', '/metrics', '/openapi.json']) {
      expect((await send('GET', path, { headers: { accept: 'text/html' } })).status).toBe(200);
    }
  });

  it('takes a URL with a scheme and a host by the same rules', async () => {
    const head = 'GET http://else.where/v1/items/7 HTTP/1.1\r\nhost: a\r\naccept: text/html';
    expectProblem(await sendRaw(port, [`${head}\r\n\r\n`]), 406, 'NOT_ACCEPTABLE');
  });
});

describe('tokens', () => {
  const unsigned = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"alice","exp":9999999999}')}.`.replaceAll('=', '');
  const bad: [string, () => Promise<string> | string | null][] = [
    ['none', () => null],
    ['that is no token', () => 'nonsense'],
    ['that has expired', () => token({ exp: Math.floor(Date.now() / 1000) - 1 })],
    ['without exp', () => token({ exp: undefined })],
    ['not valid yet', () => token({ nbf: Math.floor(Date.now() / 1000) + 60 })],
    ['of another secret', () => token({}, 'another secret of 32 characters!')],
    ['of another audience', () => token({ aud: 'elsewhere' })],
    ['of another issuer', () => token({ iss: 'somebody' })],
    ['without a subject', () => token({ sub: undefined })],
    ['with an empty subject', () => token({ sub: '' })],
    ['with a NUL in its subject', () => token({ sub: 'a\0b' })],
    ['with half a surrogate pair', () => token({ sub: '\ud83d' })],
    ['with a subject of 256 characters', () => token({ sub: 'a'.repeat(256) })],
    ['with alg none', () => unsigned],
    ['that is the service token', () => auth.serviceToken],
  ];
  it.each(bad)('answers a token %s with 401 and WWW-Authenticate', async (_, make) => {
    const answer = await send('POST', '/v1/items', { token: await make(), body: '{' });
    expectProblem(answer, 401, 'UNAUTHENTICATED');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm=/);
  });

  it('takes no token from the query, a cookie or another scheme', async () => {
    expectProblem(await send('GET', `/v1/items?access_token=${user}`, { token: null }), 401, 'UNAUTHENTICATED');
    expectProblem(await send('GET', `/v1/items?token=${user}`, { token: null }), 401, 'UNAUTHENTICATED');
    const cookie = { cookie: `token=${user}` };
    expectProblem(await send('GET', '/v1/items', { token: null, headers: cookie }), 401, 'UNAUTHENTICATED');
    const basic = { authorization: `Basic ${user}` };
    expectProblem(await send('GET', '/v1/items', { token: null, headers: basic }), 401, 'UNAUTHENTICATED');
  });

  it('remembers a token only until it expires', async () => {
    const short = await token({ exp: Math.floor(Date.now() / 1000) + 4 });
    expect((await send('GET', '/v1/items', { token: short })).status).toBe(200);
    await expect
      .poll(async () => (await send('GET', '/v1/items', { token: short })).status, { timeout: 15_000 })
      .toBe(401);
  });

  it('reaches an admin route with the role only', async () => {
    expectProblem(await send('POST', '/v1/admin/items'), 403, 'FORBIDDEN');
    expectProblem(await send('POST', '/v1/admin/items', { token: null }), 401, 'UNAUTHENTICATED');
    const nearly = await token({ role: ['admin'] });
    expectProblem(await send('POST', '/v1/admin/items', { token: nearly }), 403, 'FORBIDDEN');
    expect((await send('POST', '/v1/admin/items', { token: admin })).status).toBe(201);
  });

  it('tells only the other app what is not under /internal', async () => {
    expectProblem(await send('PATCH', '/internal/v1/things', { token: null }), 401, 'UNAUTHENTICATED');
    expectProblem(await send('GET', '/internal/v1/nothing'), 403, 'FORBIDDEN');
    const other = { token: auth.serviceToken };
    expectProblem(await send('GET', '/internal/v1/nothing', other), 404, 'ROUTE_NOT_FOUND');
    const answer = await send('PATCH', '/internal/v1/things', other);
    expectProblem(answer, 405, 'METHOD_NOT_ALLOWED');
    expect(answer.headers.get('allow')).toBe('POST');
  });

  it('reaches an internal route with the service token only', async () => {
    const path = '/internal/v1/things';
    expect((await send('POST', path, { token: auth.serviceToken })).status).toBe(200);
    expectProblem(await send('POST', path, { token: null }), 401, 'UNAUTHENTICATED');
    expectProblem(await send('POST', path, { token: `${auth.serviceToken}x` }), 401, 'UNAUTHENTICATED');
    expectProblem(await send('POST', path), 403, 'FORBIDDEN');
    expectProblem(await send('POST', path, { token: admin }), 403, 'FORBIDDEN');
  });
});

describe('what the parser refuses', () => {
  const head = (lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;

  it('is 431 for headers above 16 kB', async () => {
    const answer = await sendRaw(port, [head(['GET /livez HTTP/1.1', 'host: a', `x: ${'y'.repeat(20_000)}`])]);
    expectProblem(answer, 431, 'HEADERS_TOO_LARGE');
    expect(answer.closed).toBe(true);
  });

  it.each([5_000, 20_000, 60_000])('is 414 for a URL of %i characters', async (length) => {
    const answer = await sendRaw(port, [head([`GET /v1/items?cursor=${'x'.repeat(length)} HTTP/1.1`, 'host: a'])]);
    expectProblem(answer, 414, 'URI_TOO_LONG');
  });

  it.each([
    ['a method that is none', head(['GRAB /livez HTTP/1.1', 'host: a'])],
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a bad version', head(['GET /livez HTTP/9.9', 'host: a'])],
    ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['two lengths', head(['POST /v1/items HTTP/1.1', 'host: a', 'content-length: 2', 'content-length: 3'])],
    ['a length that is none', head(['POST /v1/items HTTP/1.1', 'host: a', 'content-length: -1'])],
    [
      'a length and chunks',
      head(['POST /v1/items HTTP/1.1', 'host: a', 'content-length: 2', 'transfer-encoding: chunked']),
    ],
    ['a folded header', head(['GET /livez HTTP/1.1', 'host: a', 'x: y', ' z'])],
    ['a space in a header name', head(['GET /livez HTTP/1.1', 'host: a', 'x y: z'])],
    ['no host', head(['GET /livez HTTP/1.1'])],
    [
      'a bad chunk',
      `${head(['POST /v1/items/7/issues HTTP/1.1', 'host: a', 'content-type: application/json', 'transfer-encoding: chunked'])}zz\r\n`,
    ],
  ])('is 400 for %s', async (_, text) => {
    expectProblem(await sendRaw(port, [text]), 400, 'BAD_REQUEST');
  });

  it.each(['OPTIONS * HTTP/1.1', 'GET * HTTP/1.1', 'GET //livez HTTP/1.1', 'GET /../livez HTTP/1.1'])(
    'never fails for %s',
    async (line) => {
      expect((await sendRaw(port, [head([line, 'host: a'])])).status).toBeLessThan(500);
    },
  );

  it('takes an Expect header it does not know for what it is: a wish', async () => {
    const answer = await sendRaw(port, [head(['GET /livez HTTP/1.1', 'host: a', 'expect: the-unexpected'])]);
    expect(answer.status).toBe(200);
  });

  it('is 408 within 12 s, and closed, for headers and for a body that do not come', async () => {
    const startedAt = performance.now();
    const body = ['POST /v1/items HTTP/1.1', 'host: a', 'content-type: application/json', 'content-length: 10'];
    const answers = await Promise.all([
      sendRaw(port, ['GET /livez HTTP/1.1\r\nhost: a\r\n']),
      sendRaw(port, [head(body), '{"a"']),
      sendRaw(port, [head([...body.slice(0, 3), 'transfer-encoding: chunked']), '2\r\n{"\r\n']),
    ]);
    expect(performance.now() - startedAt).toBeLessThan(12_000);
    for (const answer of answers) {
      expectProblem(answer, 408, 'REQUEST_TIMEOUT');
      expect(answer.closed).toBe(true);
    }
  });
});

describe('answers', () => {
  it('turns a refusal, contention, a translated error and a crash into the same shape', async () => {
    expect(expectProblem(await send('POST', '/v1/fail/business'), 409, 'SAMPLE_REFUSED')).toMatchObject({
      itemId: 7,
      retryable: false,
    });
    const busy = await send('POST', '/v1/fail/busy');
    expect(expectProblem(busy, 503, 'SAMPLE_BUSY')).toMatchObject({ retryable: true, retryAfterMs: 1500 });
    expect(busy.headers.get('retry-after')).toBe('2');
    expectProblem(await send('POST', '/v1/fail/translated'), 429, 'RATE_LIMITED');
    const crash = await send('POST', '/v1/fail/crash');
    expectProblem(crash, 500, 'INTERNAL_ERROR');
    expect(crash.text).not.toContain('secret');
    expectProblem(await send('POST', '/v1/fail/undefined'), 500, 'INTERNAL_ERROR');
  });

  it('takes a harmless X-Request-Id and makes another one otherwise; the traceId is the same', async () => {
    const taken = await send('POST', '/v1/fail/business', { headers: { 'x-request-id': 'trace-1.2:3' } });
    expect(taken.headers.get('x-request-id')).toBe('trace-1.2:3');
    expect(JSON.parse(taken.text)).toMatchObject({ traceId: 'trace-1.2:3' });
    const made = await send('GET', '/v1/nothing', { headers: { 'x-request-id': '<script>"' } });
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(made.text)).toMatchObject({ traceId: made.headers.get('x-request-id') });
  });

  it('times every mutation, refused or not', async () => {
    const timing = /^lock;dur=\d+\.\d, hold;dur=\d+\.\d, db;dur=\d+\.\d$/;
    expect((await send('POST', '/v1/items', { body: good })).headers.get('server-timing')).toMatch(timing);
    expect((await send('POST', '/v1/fail/business')).headers.get('server-timing')).toMatch(timing);
    expect((await send('GET', '/v1/items/7')).headers.get('server-timing')).toBeNull();
  });

  it('admits the listed origins and no other', async () => {
    const listed = await send('GET', '/v1/items/7', { headers: { origin: 'https://shop.example' } });
    expect(listed.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    const other = await send('GET', '/v1/items/7', { headers: { origin: 'https://evil.example' } });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    const preflight = await send('OPTIONS', '/v1/items', {
      token: null,
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Idempotency-Key');
  });

  it('does not name its software, and forbids framing and sniffing', async () => {
    const { headers } = await send('GET', '/v1/items/7');
    expect([headers.get('server'), headers.get('x-powered-by')]).toEqual([null, null]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });
});

describe('operation', () => {
  it('is alive and ready, and names the part that is not, never its address', async () => {
    expect((await send('GET', '/livez', { token: null })).status).toBe(200);
    expect((await send('GET', '/readyz', { token: null })).status).toBe(200);
    const part = app.get(SamplePart);
    part.broken = true;
    const answer = await send('GET', '/readyz', { token: null });
    part.broken = false;
    expect(expectProblem(answer, 503, 'NOT_READY').errors).toMatchObject([{ pointer: '/sample', code: 'DOWN' }]);
    expect(answer.text).not.toContain('secret');
  });

  it('counts requests by route, never by id', async () => {
    await send('GET', '/v1/items/123456');
    const { text } = await send('GET', '/metrics', { token: null });
    expect(text).toContain('firstcome_http_request_seconds_count{method="GET",route="/v1/items/:id",status="200"}');
    expect(text).not.toContain('123456');
  });

  it('serves a page under /docs that its own policy lets run', async () => {
    const page = await send('GET', '/docs', { token: null });
    expect(page.status).toBe(200);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'self'");
    // No script may stand in the page itself: the policy would not run it.
    const inline = [...page.text.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map((match) =>
      match[1]!.trim(),
    );
    expect(inline.filter((script) => script !== '')).toEqual([]);
    for (const [, asset] of page.text.matchAll(/(?:src|href)="(\.\/docs\/[^"]+)"/g)) {
      expect((await send('GET', `/${asset!.slice(2)}`, { token: null })).status, asset).toBe(200);
    }
  });

  it('documents every route with every code', async () => {
    const document = JSON.parse((await send('GET', '/openapi.json', { token: null })).text) as {
      paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
    };
    const create = document.paths['/v1/items']!.post!;
    expect(Object.keys(create.responses)).toEqual(
      expect.arrayContaining(['201', '400', '401', '405', '406', '408', '409', '413', '415', '503']),
    );
    expect(JSON.stringify(create.responses['409'])).toContain('SAMPLE_REFUSED');
    expect(JSON.stringify(create.responses['503'])).toContain('SAMPLE_BUSY');
    expect(JSON.stringify(create)).not.toContain('x-problems');
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/livez', '/readyz', '/metrics', '/internal/v1/things']),
    );
  });
});
