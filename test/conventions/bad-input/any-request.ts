import { tokenFor } from '../../support/tokens.js';
import { casesOn, targets } from './case.js';
import type { Case, Service } from './case.js';

// What no request may be, whatever its body: method, Accept, path, query, token.
const reads = {
  coupon: { list: '/v1/coupons', mine: '/v1/me/coupons', one: '/v1/coupons/1', adminOnly: '/v1/admin/coupons' },
  order: { list: '/v1/products', mine: '/v1/me/orders', one: '/v1/products/1', adminOnly: '/v1/admin/products' },
};

const accepts = ['text/html', 'image/*', 'application/xml, text/*;q=0.5', 'application/json;q=0'];
const ids =
  'abc 0 -1 +1 01 1.0 1e3 0x1 1;drop 12345678901234567890 9007199254740993 %20 %00 1%00 1%2F2 %F0%9F%8E%81'.split(' ');
const limits = ['=0', '=101', '=1000', '=-1', '=1.5', '=1e1', '=%201', '=', '', '=5&limit=5', '[]=5', '[a]=5'];
// Forged: text, then base64url of [], [1,2], ["x"], [null], and one cursor twice.
const cursors = ['', 'forged', 'W10', 'WzEsMl0', 'WyJ4Il0', 'W251bGxd', 'WzFd&cursor=WzFd', 'x'.repeat(600)];
const uuids = [
  'abc',
  '1',
  '01980000',
  '01980000-0000-7000-8000-00000000000g',
  'ABCD0000-0000-7000-8000-000000000000',
  '%00',
];
const queries = [
  ...limits.map((rest) => `limit${rest}`),
  ...cursors.map((cursor) => `cursor=${cursor}`),
  'Limit=5',
  'unknown=1',
  '__proto__=1',
  'constructor=1',
];

export async function anyRequest(service: Service): Promise<Case[]> {
  const { list, mine, one, adminOnly } = reads[service];
  const { path, as, good } = targets[service];
  const get = (where: string) => casesOn(service, where, { method: 'GET' });
  const lists = (query: string) =>
    [list, mine].map((where) => get(`${where}?${query}`)(`${where}?${query.slice(0, 40)}`, '400 VALIDATION_FAILED'));
  return [
    ...accepts.map((accept) => get(one)(`Accept: ${accept}`, '406 NOT_ACCEPTABLE', { headers: { accept } })),
    ...['DELETE', 'PUT', 'PATCH'].map((method) =>
      get(list)(`${method} on a list`, '405 METHOD_NOT_ALLOWED', { method }),
    ),
    get(path)('GET where only POST is', '405 METHOD_NOT_ALLOWED', { as }),
    get('/v1/nothing/here')('a path that is not there', '404 ROUTE_NOT_FOUND'),
    get(`${list}?x=${'x'.repeat(5000)}`)('a URL of 5 000 characters', '414 URI_TOO_LONG'),
    get(one)('headers of 20 kB', '431 HEADERS_TOO_LARGE', { headers: { 'x-large': 'x'.repeat(20_000) } }),
    get(`${list}/%zz`)('a bad percent-escape in the path', '400 MALFORMED_URL'),
    get(`${list}/%ff`)('bytes in the path that are not UTF-8', '400 MALFORMED_URL'),
    ...ids.map((id) => get(`${list}/${id}`)(`the id ${id} in a path`, '400 VALIDATION_FAILED')),
    ...uuids.map((id) => get(`/v1/me/tickets/${id}`)(`the ticket ${id} in a path`, '400 VALIDATION_FAILED')),
    get(`/v1/me/tickets/01980000-0000-7000-8000-000000000000`)('an absent ticket', '404 TICKET_NOT_FOUND'),
    ...queries.flatMap(lists),
    ...['status=', 'status=lost', 'status=ISSUED&status=ISSUED'].map((query) =>
      get(`${mine}?${query}`)(`${mine}?${query}`, '400 VALIDATION_FAILED'),
    ),
    get(`${one}?x=1`)('a query where none is taken', '400 VALIDATION_FAILED'),
    ...(await badTokens(service, mine)),
    casesOn(service, adminOnly)('a user on an admin route', '403 FORBIDDEN', { body: good }),
    get('/internal/v1/anything')('nobody on /internal', '401 UNAUTHENTICATED', { as: 'nobody' }),
    get('/internal/v1/anything')('a user on /internal', '403 FORBIDDEN'),
    get('/internal/v1/anything')('an admin on /internal', '403 FORBIDDEN', { as: 'admin' }),
  ];
}

async function badTokens(service: Service, path: string): Promise<Case[]> {
  const wrong = casesOn(service, path, { method: 'GET', as: 'nobody' });
  const refused = (name: string, token: string) => wrong(name, '401 UNAUTHENTICATED', { token });
  const header = (name: string, authorization: string) =>
    wrong(name, '401 UNAUTHENTICATED', { headers: { authorization } });
  const right = await tokenFor('user');
  const [, claims] = right.split('.');
  const none = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${claims}.`;
  return [
    wrong('no token', '401 UNAUTHENTICATED'),
    refused('an expired token', await tokenFor('user', { expiresInSeconds: -1 })),
    refused('a token signed with another secret', await tokenFor('user', { secret: 'x'.repeat(40) })),
    refused('a token of another issuer', await tokenFor('user', { issuer: 'elsewhere' })),
    refused('a token for another audience', await tokenFor('user', { audience: 'elsewhere' })),
    refused('alg: none', none),
    refused('half a token', right.slice(0, 40)),
    refused('a changed signature', `${right.slice(0, -4)}AAAA`),
    refused('a subject that no database stores', await tokenFor('nul\u0000')),
    refused('a subject of 256 characters', await tokenFor('x'.repeat(256))),
    header('an empty token', 'Bearer '),
    header('another scheme', `Basic ${right}`),
    casesOn(service, `${path}?access_token=${right}`, { method: 'GET', as: 'nobody' })(
      'a token in the query',
      '401 UNAUTHENTICATED',
    ),
  ];
}
