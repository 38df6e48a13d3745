// An ordinary day: a thousand options, a few of them popular, four reads to one order. Here an optimist should win.
import { arrivals, input, onArrival, options as optionsOf, send } from './client.ts';
import { seeded, zipf } from '../lib/random.ts';

const optionIds = input.optionIds!;
const productIds = input.productIds!;
const popularity = zipf(optionIds.length, 1);

export const options = optionsOf(arrivals('visit'));

export const visit = onArrival((user) => {
  const random = seeded(input.seed + user);
  const isRead = random() < 0.8;
  const option = popularity(random);
  if (isRead) {
    const productId = productIds[option % productIds.length];
    send({ request: 'read', method: 'GET', path: `/v1/products/${productId}` });
    return;
  }
  send({
    request: 'order',
    method: 'POST',
    path: '/v1/orders',
    user,
    key: `${input.userPrefix}${user}`,
    body: { items: [{ optionId: optionIds[option], quantity: 1 }] },
  });
});

export { handleSummary } from './client.ts';
