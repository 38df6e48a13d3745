// A thumb that hammers the button, and a client that retries: copies of one user's request at the same moment, with one
// key, with another and with none, and one more when all is over. One coupon per user; equal keys get equal answers.
import { arrivals, input, onArrival, options as optionsOf, send, sendTogether } from './client.ts';

export const options = optionsOf(arrivals('hammer'));

export const hammer = onArrival((user) => {
  const key = `${input.userPrefix}${user}`;
  const copy = { request: 'issue', method: 'POST', path: `/v1/coupons/${input.couponIds![0]}/issues`, user } as const;
  sendTogether([{ ...copy, key: `${key}-a` }, { ...copy, key: `${key}-a` }, { ...copy, key: `${key}-b` }, { ...copy }]);
  send({ ...copy, key: `${key}-a`, instance: user + 1 });
});

export { handleSummary } from './client.ts';
