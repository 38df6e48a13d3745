// How many spec files of test/ run at a time. In one lane they follow one another, because they count what its servers did;
// so every lane has a PostgreSQL and a Redis of its own, and vitest a worker for each (vitest.config.ts, test/support/servers.ts).
import { availableParallelism } from 'node:os';
import { UserError } from './progress.mjs';

// Specs wait more than they work, but many more at once would make each other's timeouts come true.
const DEFAULT = 2;
const MOST = 16;

export function lanesOf(env, processors = availableParallelism()) {
  if (env.TEST_DATABASE_URL || env.TEST_REDIS_URL) return 1; // the caller named one server
  if (!env.TEST_LANES) return Math.min(DEFAULT, processors);
  const lanes = Number(env.TEST_LANES);
  if (Number.isInteger(lanes) && lanes >= 1 && lanes <= MOST) return lanes;
  throw new UserError(
    `TEST_LANES=${env.TEST_LANES}: how many spec files run at a time, a whole number from 1 to ${MOST}.`,
  );
}

/** What the variables say to vitest and the specs: a URL for each lane. */
export const listOf = (urls) => urls.join(' ');
