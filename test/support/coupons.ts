import { call } from './client.js';
import type { Call, Reply } from './client.js';
import { tokenFor } from './tokens.js';

export interface NewCoupon {
  name?: string;
  discount?: object;
  minOrder?: number;
  total?: number;
  perUserLimit?: number;
  startsAt?: string;
  endsAt?: string;
  validDays?: number;
}

/** A coupon made through the front door; what is not said is ordinary. */
export async function createCoupon(base: string, coupon: NewCoupon = {}): Promise<number> {
  const body = { name: 'Ten off', discount: { type: 'FIXED', value: 10 }, total: 100, ...coupon };
  const token = await tokenFor('admin', { role: 'admin' });
  const reply = await call(base, 'POST', '/v1/admin/coupons', { token, body });
  if (reply.status !== 201) throw new Error(`No coupon was made: ${reply.status} ${reply.text}`);
  return (reply.json as { id: number }).id;
}

/** One user's grab. */
export async function grab(base: string, couponId: number, user: string, options: Call = {}): Promise<Reply> {
  return call(base, 'POST', `/v1/coupons/${couponId}/issues`, { token: await tokenFor(user), ...options });
}

/** `{ '201': 100, '409 COUPON_SOLD_OUT': 300 }`: what a crowd was told. */
export function outcomes(replies: Reply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, json } of replies) {
    const name = status < 400 ? String(status) : `${status} ${(json as { code: string }).code}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Returns once that many wait for a lock in the instance. */
export async function untilWaiting(base: string, waiters: number): Promise<void> {
  const token = await tokenFor('admin', { role: 'admin' });
  for (let waiting = 0; waiting < waiters;) {
    const { json } = await call(base, 'GET', '/v1/lab/locks', { token });
    waiting = json.items[0]?.waitersHere ?? 0;
  }
}
