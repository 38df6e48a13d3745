import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// One spec file at a time for each pair of servers: the files of a lane share a PostgreSQL and a Redis, and some count what these do.
const lanes = process.env['TEST_DATABASE_URL']?.split(' ').length ?? 1;

// Place decides: a spec beside the source runs without network; a spec in test/ has a real PostgreSQL and Redis
// (npm test starts them and sets TEST_DATABASE_URL and TEST_REDIS_URL).
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{apps,libs,load}/**/*.spec.ts'],
          maxWorkers: availableParallelism(),
          testTimeout: 10_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/**/*.spec.ts'],
          maxWorkers: lanes,
          // After the others: the number of a worker is that of its lane only among workers of one kind.
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
