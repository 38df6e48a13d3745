import { casesOn } from './case.js';
import type { Case } from './case.js';
import { idempotencyKeys, notPositive, notText, notTime, notWhole, putInto } from './values.js';

const issue = '/v1/coupons/1/issues';
const absent = '01980000-0000-7000-8000-000000000000';
const transactions = '/internal/v1/transactions';
const order = `"userCouponId":"${absent}","orderId":"${absent}"`;
// A gid becomes a literal in SQL: what could end one, and what is merely no name.
const badGids = [
  "'",
  "x'--",
  'x%27%3B%20drop',
  'a%20b',
  'a;b',
  'a.b',
  'a%2Fb',
  'a%00',
  '%F0%9F%8E%81',
  'x'.repeat(101),
];

export function couponFields(): Case[] {
  const create = putInto('coupon', '/v1/admin/coupons', 'admin');
  const grab = putInto('coupon', issue, 'user');
  const change = (body: string, values: string[]) =>
    putInto('coupon', '/v1/admin/coupons/1', 'admin')(body, values).map((each) => ({ ...each, method: 'PATCH' }));
  const wrongGrab = casesOn('coupon', issue);
  const prepare = putInto('coupon', `${transactions}/nobodys/prepare`, 'service');
  const wrongGid = (gid: string, step: string) =>
    casesOn('coupon', `${transactions}/${gid}/${step}`, { as: 'service' });
  const strategy = (name: string | string[]) => ({ headers: { 'x-issue-strategy': name } });
  return [
    ...create('{"name":@,"discount":{"type":"FIXED","value":1},"total":1}', notText),
    ...create('{"name":"n","discount":{"type":"FIXED","value":1},"total":@}', [...notPositive, '1000000001']),
    ...create(and('"perUserLimit":@'), [...notPositive, '1001']),
    ...create(and('"minOrder":@'), [...notWhole, '1000000001']),
    // null means "without an end" here: that is how it is shown.
    ...create(and('"validDays":@'), [...notPositive.filter((value) => value !== 'null'), '3651']),
    ...create(and('"startsAt":@'), [...notTime, '1767225600000']),
    ...create(and('"endsAt":@'), [...notTime, 'true']),
    ...create('{"name":"n","total":1,"discount":{"type":"FIXED","value":@}}', [...notPositive, '1000000001']),
    ...create('{"name":"n","total":1,"discount":{"type":@,"value":1}}', [
      '"fixed"',
      '"FREE"',
      'null',
      '["FIXED"]',
      '""',
    ]),
    ...create('{"name":"n","total":1,"discount":@}', [
      'null',
      '{}',
      '[]',
      '[null]',
      '"FIXED"',
      '[{"type":"FIXED","value":1}]',
    ]),
    ...create('@', ['{}', '{"name":"n","total":1}', '{"name":"n","discount":{"type":"FIXED","value":1}}']),
    ...create('{"name":"n","total":1,"discount":{"type":"FIXED","value":1,@}}', ['"colour":"red"', '"discount":{}']),
    // Unknown fields, and those that the server owns.
    ...create(and('@:1'), [
      '"colour"',
      '"id"',
      '"status"',
      '"issued"',
      '"remaining"',
      '"fence"',
      '"userId"',
      '"paused"',
    ]),
    ...change('{"name":@}', notText),
    ...change('{"total":@}', [...notPositive, '1000000001']),
    ...change('{"endsAt":@}', [...notTime, 'true']),
    ...change('{@:1}', ['"issued"', '"perUserLimit"', '"paused"', '"version"']),
    ...grab('{@:1}', ['"userId"', '"couponId"', '"serial"', '"status"', '"quantity"']),
    casesOn('coupon', '/v1/coupons?status=lost', { method: 'GET' })('an unknown status', '400 VALIDATION_FAILED'),
    ...deskRequests(),
    wrongGrab('an unknown strategy', '400 STRATEGY_UNKNOWN', strategy('luck')),
    wrongGrab('two strategies', '400 STRATEGY_UNKNOWN', strategy(['atomic', 'atomic'])),
    ...idempotencyKeys('coupon', issue, {}),
    ...badGids.flatMap((gid) =>
      ['commit', 'rollback'].map((step) =>
        wrongGid(gid, step)(`${step} of the gid ${gid.slice(0, 40)}`, '400 VALIDATION_FAILED'),
      ),
    ),
    wrongGid('x%27', 'prepare')('prepare under the gid x%27', '400 VALIDATION_FAILED', {
      raw: `{${order},"userId":"ann","subtotal":1}`,
    }),
    wrongGid('nobodys', 'commit')('a commit of what was never prepared', '404 TRANSACTION_NOT_FOUND'),
    wrongGid('nobodys', 'commit')('a commit with a field', '400 VALIDATION_FAILED', { raw: '{"force":true}' }),
    ...prepare(`{${order},"userId":"ann","subtotal":@}`, notWhole),
    ...prepare(`{${order},"userId":@,"subtotal":1}`, ['""', '1', 'null', '[]']),
    ...prepare(`{${order},"userId":"ann","subtotal":1,"pay":@}`, ['1', '"true"', 'null', '{}']),
    ...prepare(`{"userCouponId":@,"orderId":"${absent}","userId":"ann","subtotal":1}`, ['"mine"', '1', 'null', '""']),
    ...prepare(`{${order},"userId":"ann","subtotal":1,@:1}`, ['"discount"', '"gid"', '"status"']),
  ];
}

// What a WebSocket is refused with is in test/coupon/desk.spec.ts; without one it is told so, whatever it asks for.
function deskRequests(): Case[] {
  const get = (path: string) => casesOn('coupon', path, { method: 'GET', as: 'nobody' });
  const admin = (id: string) => casesOn('coupon', `/v1/admin/coupons/${id}/desk`, { method: 'GET', as: 'admin' });
  return [
    get('/v1/desk')('a desk without a WebSocket', '426 UPGRADE_REQUIRED'),
    get('/v1/desk?couponId=0&role=cook')('a desk without a WebSocket and with a wrong query', '426 UPGRADE_REQUIRED'),
    get('/v1/desk?couponId=1&role=editor&token=x')('a desk with an unknown query key', '400 VALIDATION_FAILED'),
    casesOn('coupon', '/v1/desk')('POST to a desk', '405 METHOD_NOT_ALLOWED'),
    ...['abc', '0', '01', '9007199254740993'].map((id) =>
      admin(id)(`the desk of coupon ${id}`, '400 VALIDATION_FAILED'),
    ),
    admin('999999999')('the desk of no coupon', '404 COUPON_NOT_FOUND'),
  ];
}

function and(field: string): string {
  return `{"name":"n","discount":{"type":"FIXED","value":1},"total":1,${field}}`;
}
