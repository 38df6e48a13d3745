// One option, far less of it than people who want it, paid with points, by every other user with a coupon: stock, points
// and coupon are one unit. What was refused must have left no trace of the three.
import { arrivals, input, lines, onArrival, options as optionsOf, send } from './client.ts';

const userCoupons = lines('user-coupons', input.userCouponsFile!);
const optionId = input.optionIds![0];

export const options = optionsOf(arrivals('order'));

export const order = onArrival((user) => {
  const userCouponId = userCoupons[user];
  send({
    request: 'order',
    method: 'POST',
    path: '/v1/orders?pay=true',
    user,
    key: `${input.userPrefix}${user}`,
    body: { items: [{ optionId, quantity: 1 }], ...(userCouponId && { userCouponId }) },
  });
});

export { handleSummary } from './client.ts';
