// Which PostgreSQL and Redis the specs in test/ use. npm test starts a private pair for each lane and sets both variables, a
// URL for each lane; vitest numbers its workers, and with them the lanes, from 1.

function required(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`${name} is not set: run "npm test", which starts the servers, or set it to a server of your own.`);
  const lane = Number(process.env['VITEST_POOL_ID'] ?? 1);
  const url = value.split(' ')[lane - 1];
  if (!url) throw new Error(`${name} names no server for lane ${lane}: run "npm test".`);
  return url;
}

export const testDatabaseUrl = (): string => required('TEST_DATABASE_URL');
export const testRedisUrl = (): string => required('TEST_REDIS_URL');
