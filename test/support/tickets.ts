import { call } from './client.js';
import type { Reply } from './client.js';
import { tokenFor } from './tokens.js';

export interface Accepted {
  user: string;
  ticketId: string;
}

/** What a 202 says; anything else is told as it is. */
export function acceptedOf(user: string, reply: Reply): Accepted {
  if (reply.status !== 202) throw new Error(`not accepted: ${reply.status} ${reply.text}`);
  return { user, ticketId: (reply.json as { ticketId: string }).ticketId };
}

export async function ticketOf(base: string, { user, ticketId }: Accepted): Promise<Reply> {
  return call(base, 'GET', `/v1/me/tickets/${ticketId}`, { token: await tokenFor(user) });
}

export interface Result {
  status: number;
  // eslint-disable-next-line typescript/no-explicit-any
  body: any;
}

/** Asks until the ticket is done, as its user would; a test that waits in vain ends by its own time. */
export async function resultOf(base: string, accepted: Accepted): Promise<Result> {
  for (;;) {
    const { status, text, json } = await ticketOf(base, accepted);
    if (status !== 200) throw new Error(`no ticket: ${status} ${text}`);
    if (json.status === 'DONE') return json.result as Result;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** `{ '201': 100, '409 COUPON_SOLD_OUT': 300 }`: what the tickets of a crowd tell. */
export function told(results: Result[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of results) {
    const name = status < 400 ? String(status) : `${status} ${(body as { code: string }).code}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
