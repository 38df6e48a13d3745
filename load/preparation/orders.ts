// Orders: one option that all want, baskets of several, and an ordinary shop.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eachOf, post } from '../api.js';
import { reconcileOrders } from '../reconcile.js';
import type { Finding, OrderRows } from '../reconcile.js';
import { rowsOf } from '../stores.js';
import type { Stores } from '../stores.js';
import { acknowledged, admin, users } from './setting.js';
import type { Prepared, Setting } from './setting.js';

export interface Product {
  productId: number;
  options: { optionId: number; price: number }[];
}

export const product = (setting: Setting, stock: number, options: number) =>
  post<Product>(`${setting.system.order[0]}/v1/lab/reset`, { ...admin(setting), body: { stock, options } });

export async function charge({ system, userPrefix }: Setting, user: number, amount: number): Promise<void> {
  const sub = `${userPrefix}${user}`;
  const url = system.order[user % system.order.length];
  await post(`${url}/v1/me/points/charges`, { token: system.tokenFor(sub), key: `${sub}-charge`, body: { amount } });
}

export async function hotOption(setting: Setting): Promise<Prepared> {
  const { stores, strategy, userPrefix, folder, supply = 1 } = setting;
  const { options } = await product(setting, supply, 1);
  const { optionId, price } = options[0]!;
  // One in ten cannot pay: what was reserved for them must come back.
  await eachOf(users(setting), (user) => charge(setting, user, user % 10 === 9 ? 1 : price));
  const userCoupons = strategy === 'none' ? [] : await discounts(setting, Math.max(1, Math.floor(price / 2)));
  const userCouponsFile = join(folder, 'user-coupons.txt');
  writeFileSync(userCouponsFile, userCoupons.join('\n'));
  return {
    input: { optionIds: [optionId], userCouponsFile },
    app: 'order',
    requestsPerArrival: 1,
    prove: async (records) => {
      const rows = await orderRows(stores, userPrefix, [optionId], true);
      if (strategy === 'none') return { findings: unordered(rows), sold: acknowledged(records) };
      const coupons = await rowsOf<OrderedCoupon>(
        stores.coupon,
        'select id, user_id as "userId", status, order_id as "orderId" from user_coupons where id = any($1::uuid[])',
        [userCoupons.filter(Boolean)],
      );
      return {
        findings: [...reconcileOrders(records, rows), ...couponsOfOrders(rows, coupons)],
        sold: rows.orders.length,
      };
    },
  };
}

/** Every other user gets a coupon. Line n is user n's, empty where there is none. */
async function discounts(setting: Setting, value: number): Promise<string[]> {
  const { system, userPrefix } = setting;
  const all = users(setting);
  const { id } = await post<{ id: number }>(`${system.coupon[0]}/v1/admin/coupons`, {
    ...admin(setting),
    body: { name: 'Load', discount: { type: 'FIXED', value }, total: all.length },
  });
  return eachOf(all, async (user) => {
    if (user % 2 === 1) return '';
    const url = system.coupon[user % system.coupon.length];
    const token = system.tokenFor(`${userPrefix}${user}`);
    return (await post<{ userCouponId: string }>(`${url}/v1/coupons/${id}/issues`, { token })).userCouponId;
  });
}

interface OrderedCoupon {
  id: string;
  userId: string;
  status: string;
  orderId: string | null;
}

/** One unit: a coupon is used by the order that took it, and free again where there is no order. */
export function couponsOfOrders({ orders }: OrderRows, coupons: readonly OrderedCoupon[]): Finding[] {
  const byCoupon = new Map(orders.map((order) => [order.userCouponId, order]));
  const wrong = coupons.filter(({ id, status, orderId }) => {
    const order = byCoupon.get(id);
    return order ? status !== 'USED' || orderId !== order.id : status !== 'ISSUED' || orderId !== null;
  });
  const text = 'a coupon is not where its order is';
  return wrong.length === 0 ? [] : [{ law: 'I5', text, count: wrong.length, examples: wrong.slice(0, 5) }];
}

function unordered({ orders }: OrderRows): Finding[] {
  const text = 'none ordered from the guarded tables';
  return orders.length === 0 ? [] : [{ law: 'contract', text, count: orders.length, examples: orders.slice(0, 5) }];
}

async function orderRows(
  { order }: Stores,
  userPrefix: string,
  optionIds: number[],
  oneOption: boolean,
): Promise<OrderRows> {
  const orders = await rowsOf<OrderRows['orders'][number]>(
    order,
    `select id, user_id as "userId", status, user_coupon_id as "userCouponId" from orders where starts_with(user_id, $1)`,
    [userPrefix],
  );
  const options = await rowsOf<{ optionId: string; available: string }>(
    order,
    'select id as "optionId", on_hand - reserved as available from options where id = any($1::bigint[])',
    [optionIds],
  );
  const numbers = options.map(({ optionId, available }) => ({
    optionId: Number(optionId),
    available: Number(available),
  }));
  return { orders, options: numbers, oneOption };
}

export async function baskets(setting: Setting): Promise<Prepared> {
  const { stores, userPrefix } = setting;
  const all = users(setting);
  // Ten options, baskets of 3.5 pieces: this stock ends after about half of the baskets. The search for the knee, which does
  // not know yet how many will come, must never run out.
  const stock = all.length === 0 ? 1_000_000 : Math.ceil((all.length * 3.5) / 10 / 2);
  const { options } = await product(setting, stock, 10);
  const optionIds = options.map(({ optionId }) => optionId);
  return {
    input: { optionIds },
    app: 'order',
    requestsPerArrival: 1,
    prove: async (records) => ({
      findings: reconcileOrders(records, await orderRows(stores, userPrefix, optionIds, false)),
    }),
  };
}

const shelves = 20;
const perShelf = 50;

export async function shop(setting: Setting): Promise<Prepared> {
  const { stores, userPrefix } = setting;
  const products = await eachOf(
    Array.from({ length: shelves }),
    () => product(setting, users(setting).length + 100, perShelf),
    4,
  );
  // Popularity goes across the products: option i is on product i mod 20.
  const optionIds = Array.from(
    { length: shelves * perShelf },
    (_, i) => products[i % shelves]!.options[Math.floor(i / shelves)]!.optionId,
  );
  return {
    input: { optionIds, productIds: products.map(({ productId }) => productId) },
    app: 'order',
    requestsPerArrival: 1,
    prove: async (records) => ({
      findings: reconcileOrders(records, await orderRows(stores, userPrefix, optionIds, false)),
    }),
  };
}
