import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { call } from './client.js';
import type { Call, Reply } from './client.js';
import type { TestDatabase } from './database.js';
import { tokenFor } from './tokens.js';

export interface NewOption {
  name?: string;
  price?: number;
  stock?: number;
}

export const aUuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$/) as string;
export const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
/** Well-formed, and nobody's. */
export const absentOrderId = '01890a5d-ac96-774b-bcce-b302099a8057';

let keys = 0;
/** A key that nothing else in this process uses. */
export const freshKey = (): string => `key-${++keys}`;

/** Options of one product made through the front door, ascending; what is not said is ordinary. */
export async function createOptions<const O extends NewOption[]>(base: string, ...options: O) {
  const all = options.map((option, at) => ({ name: `Option ${at + 1}`, price: 100, stock: 10, ...option }));
  const token = await tokenFor('admin', { role: 'admin' });
  const reply = await call(base, 'POST', '/v1/admin/products', { token, body: { name: 'Shirt', options: all } });
  if (reply.status !== 201) throw new Error(`No product was made: ${reply.status} ${reply.text}`);
  const created: { optionId: number }[] = reply.json.options;
  return created.map(({ optionId }) => optionId) as { [At in keyof O]: number };
}

export async function charge(base: string, user: string, amount: number, options: Call = {}): Promise<Reply> {
  const given = { token: await tokenFor(user), key: freshKey(), body: { amount }, ...options };
  return call(base, 'POST', '/v1/me/points/charges', given);
}

/** `{ 7: 2 }` is two pieces of option 7. */
export const itemsOf = (quantities: Record<number, number>) =>
  Object.entries(quantities).map(([optionId, quantity]) => ({ optionId: Number(optionId), quantity }));

/** As the database has it: what is on the shelf, and what of it orders have reserved. */
export async function stockOf(database: TestDatabase, optionId: number) {
  const statement = 'select on_hand::int as "onHand", reserved::int from options where id = $1';
  const [row] = await database.query<{ onHand: number; reserved: number }>(statement, [optionId]);
  return row;
}

export interface OrderCall extends Call {
  pay?: boolean;
}

export async function order(base: string, user: string, items: object[], options: OrderCall = {}): Promise<Reply> {
  const given = { token: await tokenFor(user), key: freshKey(), body: { items }, ...options };
  return call(base, 'POST', `/v1/orders${options.pay ? '?pay=true' : ''}`, given);
}

export async function pay(base: string, user: string, orderId: string, options: Call = {}): Promise<Reply> {
  const given = { token: await tokenFor(user), key: freshKey(), body: { method: 'POINTS' }, ...options };
  return call(base, 'POST', `/v1/orders/${orderId}/payments`, given);
}

export async function cancel(base: string, user: string, orderId: string, options: Call = {}): Promise<Reply> {
  const given = { token: await tokenFor(user), key: freshKey(), ...options };
  return call(base, 'POST', `/v1/orders/${orderId}/cancellations`, given);
}

export async function refund(base: string, user: string, orderId: string, options: Call = {}): Promise<Reply> {
  const given = { token: await tokenFor(user), key: freshKey(), ...options };
  return call(base, 'POST', `/v1/orders/${orderId}/refunds`, given);
}

/** What a good client does: while the answer says so, it waits as told and repeats the same request with the same key. */
export async function untilFinal(request: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await request();
    if (reply.status < 400 || !reply.json.retryable) return reply;
    await pause(reply.json.retryAfterMs);
  }
}
