// What a block needs before its first request, and how its rows are read after its last: one entry per scenario. Every block
// has coupons, products and users of its own, so that none starts from what another left.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eachOf, post } from './api.js';
import { usersOf } from './lib/arrivals.js';
import type { Phase } from './lib/arrivals.js';
import type { ClientRecord } from './lib/client-log.js';
import type { K6Input } from './lib/k6-input.js';
import type { ScenarioName } from './plan.js';
import { reconcileCoupon, reconcileOrders, reconcileRace } from './reconcile.js';
import type { CouponRows, Finding, OrderRows } from './reconcile.js';
import { rowsOf } from './stores.js';
import type { Stores } from './stores.js';
import type { System } from './system.js';

export interface Setting {
  system: System;
  stores: Stores;
  strategy: string;
  phases: Phase[];
  supply?: number;
  userPrefix: string;
  /** Where the block's files go. */
  folder: string;
}

export interface Proof {
  findings: Finding[];
  /** What the rows say was given; under `none` what the clients were told. */
  sold?: number;
}

export interface Prepared {
  input: Partial<K6Input>;
  app: 'coupon' | 'order';
  requestsPerIteration: number;
  /** Right before k6 starts: what must begin with it. */
  restart?(): Promise<Partial<K6Input>>;
  prove(records: readonly ClientRecord[]): Promise<Proof>;
}

const preparations: Record<ScenarioName, (setting: Setting) => Promise<Prepared>> = {
  'coupon-flash': sale,
  'coupon-duplicate': async (setting) => ({ ...(await sale(setting)), requestsPerIteration: 5 }),
  capacity: sale,
  bleed,
  'order-hot-option': hotOption,
  'order-multi-item': baskets,
  'order-mixed': shop,
  'pay-expire-race': race,
};

export const prepare = (scenario: ScenarioName, setting: Setting): Promise<Prepared> => preparations[scenario](setting);

const acknowledged = (records: readonly ClientRecord[]) =>
  records.filter(({ outcome, replayed, request }) => outcome === 'acknowledged' && !replayed && request !== 'probe' && request !== 'read').length; // prettier-ignore

const admin = ({ system }: Setting) => ({ token: system.adminToken });
const users = ({ phases }: Setting) => Array.from({ length: usersOf(phases) }, (_, user) => user);

// ---- coupons

async function sale(setting: Setting): Promise<Prepared> {
  const { system, stores, phases, strategy } = setting;
  // The search for the knee does not know yet how many will come.
  const total = setting.supply ?? usersOf(phases) + 100_000;
  const { id } = await post<{ id: number }>(`${system.coupon[0]}/v1/lab/reset`, { ...admin(setting), body: { total } });
  return {
    input: { couponId: id },
    app: 'coupon',
    requestsPerIteration: 1,
    prove: async (records) => {
      const rows = await couponRows(stores, id);
      if (strategy === 'none') return { findings: untouched(rows), sold: acknowledged(records) };
      return { findings: reconcileCoupon(records, rows), sold: rows.userCoupons.length };
    },
  };
}

/** `none` works on tables of its own: the guarded ones must not know of it. */
function untouched({ userCoupons }: CouponRows): Finding[] {
  const text = 'none issued into the guarded tables';
  return userCoupons.length === 0
    ? []
    : [{ law: 'contract', text, count: userCoupons.length, examples: userCoupons.slice(0, 5) }];
}

async function couponRows({ coupon }: Stores, id: number): Promise<CouponRows> {
  const [row] = await rowsOf<{ total: number; issued: number; perUserLimit: number }>(
    coupon,
    'select total, issued, per_user_limit as "perUserLimit" from coupons where id = $1',
    [id],
  );
  const userCoupons = await rowsOf<CouponRows['userCoupons'][number]>(
    coupon,
    'select id, user_id as "userId", serial from user_coupons where coupon_id = $1',
    [id],
  );
  return { ...row!, userCoupons };
}

/** The probe reads coupons that nobody grabs. */
async function bleed(setting: Setting): Promise<Prepared> {
  const { system } = setting;
  const others = await eachOf([1, 2, 3], () =>
    post<{ id: number }>(`${system.coupon[0]}/v1/lab/reset`, { ...admin(setting), body: { total: 1 } }),
  );
  const prepared = await sale({ ...setting, phases: setting.phases.filter(({ name }) => !name.startsWith('probe')) });
  return { ...prepared, input: { ...prepared.input, probePaths: others.map(({ id }) => `/v1/coupons/${id}`) } };
}

// ---- orders

interface Product {
  productId: number;
  options: { optionId: number; price: number }[];
}

const product = (setting: Setting, stock: number, options: number) =>
  post<Product>(`${setting.system.order[0]}/v1/lab/reset`, { ...admin(setting), body: { stock, options } });

async function charge({ system, userPrefix }: Setting, user: number, amount: number): Promise<void> {
  const sub = `${userPrefix}${user}`;
  const url = system.order[user % system.order.length];
  await post(`${url}/v1/me/points/charges`, { token: system.tokenFor(sub), key: `${sub}-charge`, body: { amount } });
}

async function hotOption(setting: Setting): Promise<Prepared> {
  const { system, stores, strategy, userPrefix, folder, supply = 1 } = setting;
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
    requestsPerIteration: 1,
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

async function baskets(setting: Setting): Promise<Prepared> {
  const { stores, userPrefix } = setting;
  const all = users(setting);
  // Ten options, baskets of 3.5 pieces: this stock ends after about half of the baskets.
  const { options } = await product(setting, Math.max(1, Math.ceil((all.length * 3.5) / 10 / 2)), 10);
  const optionIds = options.map(({ optionId }) => optionId);
  return {
    input: { optionIds },
    app: 'order',
    requestsPerIteration: 1,
    prove: async (records) => ({
      findings: reconcileOrders(records, await orderRows(stores, userPrefix, optionIds, false)),
    }),
  };
}

const shelves = 20;
const perShelf = 50;

async function shop(setting: Setting): Promise<Prepared> {
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
    requestsPerIteration: 1,
    prove: async (records) => ({
      findings: reconcileOrders(records, await orderRows(stores, userPrefix, optionIds, false)),
    }),
  };
}

/** k6 needs a moment to start; the first order lapses after it. */
const leadMs = 1500;
const lapsedWithinMs = 90_000;

async function race(setting: Setting): Promise<Prepared> {
  const { system, stores, phases, userPrefix, folder } = setting;
  const [phase] = phases;
  const all = users(setting);
  const { options } = await product(setting, all.length, 1);
  await eachOf(all, (user) => charge(setting, user, options[0]!.price));
  const orders = await eachOf(all, async (user) => {
    const token = system.tokenFor(`${userPrefix}${user}`);
    const body = { items: [{ optionId: options[0]!.optionId, quantity: 1 }] };
    const url = system.order[user % system.order.length];
    return (await post<{ orderId: string }>(`${url}/v1/orders`, { token, key: `${userPrefix}${user}`, body })).orderId;
  });
  const expirySpacingMs = 1000 / phase!.rate;
  const ordersFile = join(folder, 'orders.txt');
  writeFileSync(ordersFile, orders.join('\n'));
  return {
    input: { ordersFile },
    app: 'order',
    requestsPerIteration: 2,
    // Ten minutes is too long for a race, and the configured time belongs to the system: only these orders lapse sooner.
    restart: async () => {
      const firstExpiryMs = Date.now() + leadMs;
      await stores.order.query(
        `update orders o
            set expires_at = to_timestamp($2::float8 / 1000) + (own.place - 1) * make_interval(secs => $3::float8 / 1000)
           from unnest($1::uuid[]) with ordinality as own (id, place) where o.id = own.id`,
        [orders, firstExpiryMs, expirySpacingMs],
      );
      return { firstExpiryMs, expirySpacingMs };
    },
    prove: async (records) => {
      await untilEnded(stores, orders);
      const rows = await rowsOf<{ id: string; status: string; arrows: string[] }>(
        stores.order,
        `select o.id, o.status,
                coalesce((select array_agg(e.type) from order_events e where e.order_id = o.id
                           and e.type in ('OrderPaid', 'OrderCancelled', 'OrderExpired')), '{}') as arrows
           from orders o where o.id = any($1::uuid[])`,
        [orders],
      );
      return { findings: reconcileRace(records, { orders: rows }) };
    },
  };
}

/** The scheduled job ends what lapsed; how often it looks is its own business. */
async function untilEnded({ order }: Stores, ids: string[]): Promise<void> {
  const deadline = performance.now() + lapsedWithinMs;
  while (performance.now() < deadline) {
    const [row] = await rowsOf<{ open: number }>(
      order,
      `select count(*)::int as open from orders where id = any($1::uuid[]) and status = 'PENDING_PAYMENT'`,
      [ids],
    );
    if (row?.open === 0) return;
    await pause(250);
  }
}
