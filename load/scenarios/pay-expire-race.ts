// Orders that lapse one after another, each paid and cancelled at the same moment around its expiry: of the three arrows
// exactly one may win, and the two others must leave nothing behind.
import { arrivals, input, lines, onArrival, options as optionsOf, sendTogether } from './client.ts';

const orders = lines('orders', input.ordersFile!);
const aroundMs = 120;

export const options = optionsOf(arrivals('race'));

export const race = onArrival(() => {
  const { firstExpiryMs = 0, expirySpacingMs = 1, userPrefix } = input;
  // The order that lapses now, give or take: the clock chooses, so that it does not matter when k6 got going.
  const aim = Date.now() + (Math.random() * 2 - 1) * aroundMs;
  const place = Math.round((aim - firstExpiryMs) / expirySpacingMs);
  const user = Math.min(Math.max(place, 0), orders.length - 1);
  const orderId = orders[user]!;
  const common = { method: 'POST', user, about: orderId } as const;
  const attempt = `${userPrefix}${user}-${Math.random().toString(36).slice(2)}`;
  const pay = {
    ...common,
    request: 'pay',
    path: `/v1/orders/${orderId}/payments`,
    key: `${attempt}-pay`,
    body: { method: 'POINTS' },
  };
  const cancel = {
    ...common,
    request: 'cancel',
    path: `/v1/orders/${orderId}/cancellations`,
    key: `${attempt}-cancel`,
  };
  sendTogether(Math.random() < 0.5 ? [pay, cancel] : [cancel, pay]);
});

export { handleSummary } from './client.ts';
