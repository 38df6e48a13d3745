import { input, onArrival, send } from './client.ts';

/** One user, one grab, without a key: what a sale's crowd does. */
export const grab = onArrival((user) => {
  send({ request: 'issue', method: 'POST', path: `/v1/coupons/${input.couponId}/issues`, user });
});
