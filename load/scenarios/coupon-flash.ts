// A quiet market, then the doors open: far more distinct users than coupons. Nothing may be oversold, and the many who
// come too late want a quick answer.
import { arrivals, options as optionsOf } from './client.ts';

export const options = optionsOf(arrivals('grab'));
export { grab } from './grab.ts';
export { handleSummary } from './client.ts';
