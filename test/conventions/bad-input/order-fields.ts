import { casesOn } from './case.js';
import type { Case } from './case.js';
import { idempotencyKeys, notPositive, notText, notWhole, putInto } from './values.js';

const items = '"items":[{"optionId":1,"quantity":1}]';
const [orders, charges] = ['/v1/orders', '/v1/me/points/charges'];
const absent = '01980000-0000-7000-8000-000000000000';

export function orderFields(): Case[] {
  const order = putInto('order', orders, 'user');
  const charge = putInto('order', charges, 'user');
  const product = putInto('order', '/v1/admin/products', 'admin');
  const adjust = putInto('order', '/v1/admin/options/1/stock-adjustments', 'admin');
  const pay = putInto('order', `${orders}/${absent}/payments`, 'user');
  const wrongOrder = casesOn('order', orders);
  const tooMany = Array.from({ length: 51 }, (_, at) => ({ optionId: at + 1, quantity: 1 }));
  return [
    ...order('{"items":[{"optionId":1,"quantity":@}]}', [...notPositive, '1001']),
    ...order('{"items":[{"optionId":@,"quantity":1}]}', notPositive),
    ...order('{"items":@}', ['{}', '[]', '[null]', '[[]]', 'null', '"1"', '[1]', '[{"optionId":1}]']),
    wrongOrder('51 items', '400 VALIDATION_FAILED', { body: { items: tooMany } }),
    wrongOrder('2147483648 is a fine id, of nothing', '404 OPTION_NOT_FOUND', {
      body: { items: [{ optionId: 2_147_483_648, quantity: 1 }] },
    }),
    ...order(`{${items},"userCouponId":@}`, ['"mine"', '""', '1', 'null', '"00000000-0000-0000-0000-00000000000g"']),
    ...order(`{${items},"expectedTotal":@}`, notWhole),
    ...order('@', ['{}']),
    ...order('{"items":[{"optionId":1,"quantity":1,@:1}]}', ['"price"', '"colour"']),
    // Unknown fields, and those that the server owns.
    ...order(`{${items},@:1}`, [
      '"colour"',
      '"status"',
      '"total"',
      '"discount"',
      '"userId"',
      '"subtotal"',
      '"orderId"',
    ]),
    ...charge('{"amount":@}', [...notPositive, '1000001']),
    ...charge('{"amount":1,@:1}', ['"userId"', '"balance"']),
    ...product('{"name":@,"options":[{"name":"o","price":1,"stock":1}]}', notText),
    ...product('{"name":"n","options":[{"name":@,"price":1,"stock":1}]}', notText),
    ...product('{"name":"n","options":[{"name":"o","price":@,"stock":1}]}', notWhole),
    ...product('{"name":"n","options":[{"name":"o","price":1,"stock":@}]}', notWhole),
    ...product('{"name":"n","options":@}', ['{}', '[]', '[null]', 'null', '[[]]']),
    ...adjust('{"delta":@,"reason":"r"}', ['0', ...notWhole.filter((value) => value !== '-1')]),
    ...pay('{"method":@}', ['"CASH"', '"points"', 'null', '1', '["POINTS"]']),
    ...['abc', '1', '00000000-0000-0000-0000-00000000000g', absent.toUpperCase().replace('0198', 'ABCD'), '%00'].map(
      (id) =>
        casesOn('order', `${orders}/${id}`, { method: 'GET' })(`the order id ${id} in a path`, '400 VALIDATION_FAILED'),
    ),
    ...['pay=yes', 'pay=', 'pay=1', 'pay=true&pay=true', 'Pay=true'].map((query) =>
      casesOn('order', `${orders}?${query}`)(`?${query}`, '400 VALIDATION_FAILED', { raw: `{${items}}` }),
    ),
    wrongOrder('an unknown strategy', '400 STRATEGY_UNKNOWN', {
      raw: `{${items}}`,
      headers: { 'x-stock-strategy': 'luck' },
    }),
    ...idempotencyKeys('order', charges, { body: { amount: 1 } }),
    ...['days=0', 'days=366', 'days=', 'days=1.5', 'days=3&days=3', 'limit=0', 'limit=101', 'cursor=x'].map((query) =>
      casesOn('order', `/v1/products/popular?${query}`, { method: 'GET' })(
        `popular products: ?${query}`,
        '400 VALIDATION_FAILED',
      ),
    ),
    ...['cancellations', 'refunds'].flatMap((step) => [
      casesOn('order', `${orders}/${absent}/${step}`)(`${step} of an absent order`, '404 ORDER_NOT_FOUND', {}),
      casesOn('order', `${orders}/${absent}/${step}`)(`${step} with a field`, '400 VALIDATION_FAILED', {
        raw: '{"reason":"x"}',
      }),
      casesOn('order', `${orders}/${absent}/${step}`)(`${step} without a key`, '400 IDEMPOTENCY_KEY_REQUIRED', {
        key: undefined,
        raw: '{}',
      }),
    ]),
    ...[orders, charges, `${orders}/${absent}/payments`].map((path) =>
      casesOn('order', path)(`${path} without an Idempotency-Key`, '400 IDEMPOTENCY_KEY_REQUIRED', {
        key: undefined,
        raw: { [orders]: `{${items}}`, [charges]: '{"amount":1}' }[path] ?? '{"method":"POINTS"}',
      }),
    ),
  ];
}
