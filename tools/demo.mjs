// Demo data, made over HTTP like anybody would: one coupon of 100, one product, points for alice.
// What was made is kept in .data/demo.json, so that the next start finds it again; what is used up is made anew.
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { inData } from './paths.mjs';
import { UserError } from './progress.mjs';
import { signToken } from './tokens.mjs';

const file = inData('demo.json');

const COUPON = {
  name: 'First come: 10 % off',
  discount: { type: 'PERCENT', value: 10, maxDiscount: 5000 },
  total: 100,
};
const PRODUCT = {
  name: 'Cloud Hoodie',
  options: [
    { name: 'M, sky blue', price: 12_900, stock: 1000 },
    { name: 'L, storm grey', price: 13_900, stock: 1000 },
  ],
};

async function call(base, path, { token, body, key } = {}) {
  const response = await fetch(base + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    },
    body: body && JSON.stringify(body),
  });
  const answer = await response.json().catch(() => undefined);
  if (!response.ok && response.status !== 404) {
    throw new UserError(
      `Demo data: ${body ? 'POST' : 'GET'} ${base}${path} answered ${response.status} ${JSON.stringify(answer)}`,
    );
  }
  return response.ok ? answer : undefined;
}

function remembered() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/** After a reset nothing of it is there any more. */
export const forgetDemo = () => rmSync(file, { force: true });

/** Resolves to { couponId, productId, optionIds } that the printed curl lines can use. */
export async function loadDemo({ coupon, order, adminToken }) {
  const alice = signToken({ sub: 'alice' });
  const { couponId, productId } = remembered();
  const demo = {
    couponId:
      (await usableCoupon(coupon, alice, couponId)) ??
      (await call(coupon, '/v1/admin/coupons', { token: adminToken, body: COUPON })).id,
  };
  const product =
    (await usableProduct(order, productId)) ??
    (await call(order, '/v1/admin/products', { token: adminToken, body: PRODUCT }));
  Object.assign(demo, { productId: product.productId, optionIds: product.options.map(({ optionId }) => optionId) });
  const { balance } = await call(order, '/v1/me/points', { token: alice });
  if (balance < 100_000) {
    await call(order, '/v1/me/points/charges', { token: alice, key: randomUUID(), body: { amount: 100_000 } });
  }
  writeFileSync(file, JSON.stringify(demo));
  return demo;
}

/** Still to be had, and not yet alice's: then the printed line issues it. */
async function usableCoupon(coupon, alice, id) {
  const found = id && (await call(coupon, `/v1/coupons/${id}`));
  if (found?.name !== COUPON.name || found.remaining < 1) return undefined;
  const { items } = await call(coupon, '/v1/me/coupons?limit=100', { token: alice });
  return items.some(({ couponId }) => couponId === id) ? undefined : id;
}

async function usableProduct(order, id) {
  const found = id && (await call(order, `/v1/products/${id}`));
  const enough = found?.name === PRODUCT.name && found.options.every(({ available }) => available >= 10);
  return enough ? found : undefined;
}
