// One hot coupon that does not run out, at one arrival rate after another: until the 99th percentile or the clients give
// way (the knee), and at the same loads for all strategies (the curve).
import { arrivals, options as optionsOf } from './client.ts';

export const options = optionsOf(arrivals('grab'));
export { grab } from './grab.ts';
export { handleSummary } from './client.ts';
