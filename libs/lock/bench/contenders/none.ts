import type { Open } from './contender.js';

/** No lock at all: the negative control. Where two holders at once are not seen here, not seeing them elsewhere says nothing. */
export const none: Open = async () => ({
  withLock: (_key, body) => body(),
  close: async () => undefined,
});
