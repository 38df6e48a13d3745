import { arrival, input, send } from './client.ts';

/** One user, one grab, without a key: what a sale's crowd does. */
export function grab(): void {
  send({ request: 'issue', method: 'POST', path: `/v1/coupons/${input.couponId}/issues`, user: arrival() });
}
