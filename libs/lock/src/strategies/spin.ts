import { attempt, undo, type Strategy } from './strategy.js';

const intervalMs = 50;

/** Looks at a fixed interval, half of it jitter, so that waiters do not march in step. */
export const spin: Strategy = {
  name: 'spin',
  listens: false,
  linesUp: false,
  look: attempt,
  pauseMs: ({ backoff, random }) => backoff * intervalMs * (0.75 + random.next() / 2),
  leave: undo,
};
