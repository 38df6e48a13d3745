import { call } from './client.js';
import type { Call, Reply } from './client.js';
import { tokenFor } from './tokens.js';

export interface NewOption {
  name?: string;
  price?: number;
  stock?: number;
}

let keys = 0;
/** A key that nothing else in this process uses. */
export const freshKey = (): string => `key-${++keys}`;

/** Options of one product made through the front door, ascending; what is not said is ordinary. */
export async function createOptions(base: string, ...options: NewOption[]): Promise<number[]> {
  const all = options.map((option, at) => ({ name: `Option ${at + 1}`, price: 100, stock: 10, ...option }));
  const token = await tokenFor('admin', { role: 'admin' });
  const reply = await call(base, 'POST', '/v1/admin/products', { token, body: { name: 'Shirt', options: all } });
  if (reply.status !== 201) throw new Error(`No product was made: ${reply.status} ${reply.text}`);
  return (reply.json as { options: { optionId: number }[] }).options.map(({ optionId }) => optionId);
}

export async function charge(base: string, user: string, amount: number, options: Call = {}): Promise<Reply> {
  const given = { token: await tokenFor(user), key: freshKey(), body: { amount }, ...options };
  return call(base, 'POST', '/v1/me/points/charges', given);
}

/** `{ 7: 2 }` is two pieces of option 7. */
export const itemsOf = (quantities: Record<number, number>) =>
  Object.entries(quantities).map(([optionId, quantity]) => ({ optionId: Number(optionId), quantity }));

export interface OrderCall extends Call {
  pay?: boolean;
}

export async function order(base: string, user: string, items: object[], options: OrderCall = {}): Promise<Reply> {
  const { pay = false, ...rest } = options;
  const given = { token: await tokenFor(user), key: freshKey(), body: { items }, ...rest };
  return call(base, 'POST', `/v1/orders${pay ? '?pay=true' : ''}`, given);
}

export async function pay(base: string, user: string, orderId: string, options: Call = {}): Promise<Reply> {
  const given = { token: await tokenFor(user), key: freshKey(), body: { method: 'POINTS' }, ...options };
  return call(base, 'POST', `/v1/orders/${orderId}/payments`, given);
}

/** What a good client does: while the answer says so, it repeats the same request with the same key. */
export async function untilFinal(request: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await request();
    if (reply.status < 400 || !(reply.json as { retryable: boolean }).retryable) return reply;
  }
}
