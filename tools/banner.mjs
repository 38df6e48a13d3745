// What npm start prints once everything is ready: URLs, tokens, and curl lines that work as they stand.
import { randomUUID } from 'node:crypto';
import { signToken } from './tokens.mjs';

const as = (token) => `-H 'Authorization: Bearer ${token}'`;
const json = (body) => `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
// New keys at each start; the same line again is answered with the stored answer (Idempotency-Replayed: true).
const key = () => `-H 'Idempotency-Key: ${randomUUID()}'`;

export function banner({ coupon, order, adminToken }, demo) {
  const alice = signToken({ sub: 'alice' });
  const basket = { items: [{ optionId: demo.optionIds[0], quantity: 2 }] };
  return `
Firstcome is ready.
  coupon   ${coupon.join('   ')}   (API: ${coupon[0]}/docs)
  order    ${order.join('   ')}   (API: ${order[0]}/docs)

Tokens (24 h; more of them: npm run token -- --sub bob)
  alice    ${alice}
  admin    ${adminToken}

Try it:
# alice takes coupon ${demo.couponId}, one of 100 (the other instance knows it at once)
curl -s -X POST ${coupon[0]}/v1/coupons/${demo.couponId}/issues ${as(alice)}
curl -s ${coupon[1]}/v1/me/coupons ${as(alice)}
# alice charges points, orders two and pays with them
curl -s -X POST ${order[0]}/v1/me/points/charges ${as(alice)} ${key()} ${json({ amount: 50_000 })}
curl -s -X POST '${order[0]}/v1/orders?pay=true' ${as(alice)} ${key()} ${json(basket)}
curl -s ${order[1]}/v1/me/orders ${as(alice)}

Also: npm run verify, npm run reset. Logs: .data/logs/. Stop with Ctrl-C.
`;
}
