import { defineConfig } from 'vitest/config';

// Place decides: a spec beside the source runs without network; a spec in test/ has a real PostgreSQL and Redis
// (npm test starts them and sets TEST_DATABASE_URL and TEST_REDIS_URL).
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['{apps,libs,load}/**/*.spec.ts'], testTimeout: 10_000 },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/**/*.spec.ts'],
          // One file at a time: the files share one PostgreSQL and one Redis, and some count what these do.
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
