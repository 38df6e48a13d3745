import type { JoinAnswer, LockStore } from '../stores/store.js';
import type { Look, Strategy } from './strategy.js';

const farAwayMs = 86_400_000;

/**
 * First come, first served across processes: every waiter stands in the store's line, and a release names the next. Who is
 * named looks at once; of the others of a process only the first looks again unasked, for all of them.
 */
export const queue: Strategy = {
  name: 'queue',
  listens: true,
  linesUp: true,
  look: (store, { keys, token, options, once, onLateGrant }: Look): Promise<JoinAnswer> => {
    const { ttlMs, priority } = options;
    const maxWaiters = once ? 0 : options.maxWaiters;
    return lineOf(store).join({ key: onlyKey(keys), token, ttlMs, priority, maxWaiters, onLateGrant });
  },
  pauseMs: ({ remainingMs, recheckMs, lookout }) => {
    if (!lookout) return farAwayMs;
    return remainingMs >= 0 ? Math.min(recheckMs, remainingMs + 1) : recheckMs;
  },
  leave: (store, keys, token) => lineOf(store).leave(onlyKey(keys), token),
};

function lineOf(store: LockStore) {
  if (!store.line) throw new Error(`store "${store.name}" keeps no line`);
  return store.line;
}

function onlyKey(keys: readonly string[]): string {
  const [key] = keys;
  if (key === undefined || keys.length > 1) throw new Error('a line is of one key');
  return key;
}
