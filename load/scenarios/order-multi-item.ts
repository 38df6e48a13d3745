// Baskets of two to five out of ten options, in whatever order the client named them: whoever locks them in that order
// meets somebody who locks them in the other.
import { arrivals, input, onArrival, options as optionsOf, send } from './client.ts';
import { seeded, shuffled } from '../lib/random.ts';

const optionIds = input.optionIds!;

export const options = optionsOf(arrivals('order'));

export const order = onArrival((user) => {
  const random = seeded(input.seed + user);
  const size = 2 + Math.floor(random() * 4);
  const items = shuffled(optionIds, random)
    .slice(0, size)
    .map((optionId) => ({ optionId, quantity: 1 }));
  send({
    request: 'order',
    method: 'POST',
    path: '/v1/orders',
    user,
    key: `${input.userPrefix}${user}`,
    body: { items },
  });
});

export { handleSummary } from './client.ts';
