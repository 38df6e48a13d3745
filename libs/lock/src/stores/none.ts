import type { LockStore, StoreFactory } from './store.js';

/**
 * Grants everything: the negative control. What still works with it did not need the lock, and a test that passes with it
 * proves nothing. Never for production.
 */
export function noneStore(): StoreFactory {
  return ({ clock }) => {
    let fence = 0;
    const store: LockStore = {
      name: 'none',
      excludes: false,
      acquire: async ({ fences }) => {
        fence += fences;
        return { granted: true, fence: fence - fences + 1 };
      },
      renew: async (requests) => requests.map(() => 'renewed'),
      shorten: async () => 'renewed',
      release: async () => true,
      raise: async (_keys, _token, least) => {
        fence = Math.max(fence, least);
        return true;
      },
      inspect: async () => ({ held: false, remainingMs: 0, fence, queued: 0, storeTimeMs: clock.now() }),
      forceRelease: async () => false,
      close: async () => undefined,
    };
    return store;
  };
}
