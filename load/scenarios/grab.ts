import { input, onArrival, send } from './client.ts';

const couponIds = input.couponIds!;

/** One user, one grab, without a key: what a sale's crowd does. */
export const grab = onArrival((user) => {
  const couponId = couponIds[user % couponIds.length]!;
  send({ request: 'issue', method: 'POST', path: `/v1/coupons/${couponId}/issues`, user, about: String(couponId) });
});
