// Which PostgreSQL and Redis the specs in test/ use. npm test starts private ones and sets both variables.

function required(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`${name} is not set: run "npm test", which starts the servers, or set it to a server of your own.`);
  return value;
}

export const testDatabaseUrl = (): string => required('TEST_DATABASE_URL');
export const testRedisUrl = (): string => required('TEST_REDIS_URL');
