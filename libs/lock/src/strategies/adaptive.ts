import { attempt, undo, type Strategy } from './strategy.js';

const firstMs = 5;
const growth = 1.5;
const longestMs = 200;

/** Looks soon at first and more rarely later, each time somewhere between at once and the full interval. */
export const adaptive: Strategy = {
  name: 'adaptive',
  listens: false,
  linesUp: false,
  look: attempt,
  // Full jitter; a millisecond at least, or a lucky number would be a busy loop.
  pauseMs: ({ round, backoff, random }) =>
    Math.max(1, backoff * Math.min(longestMs, firstMs * growth ** round) * random.next()),
  leave: undo,
};
