import { attempt, undo, type Strategy } from './strategy.js';

/**
 * Sleeps until the release is published. Whoever heard nothing looks again when the holder's time runs out, and after
 * `recheckMs` at the latest: a message can be lost, a holder can die.
 */
export const pubsub: Strategy = {
  name: 'pubsub',
  listens: true,
  linesUp: false,
  look: attempt,
  // One more millisecond: the remaining time is rounded down, and a look that is early is a look too many.
  pauseMs: ({ remainingMs, recheckMs }) => (remainingMs >= 0 ? Math.min(recheckMs, remainingMs + 1) : recheckMs),
  leave: undo,
};
