// The variables of the contract (section 2) that npm start and npm test decide themselves, and what a server program may see.

/** Set for the apps by npm start; never taken from the caller's shell. */
export const DECIDED = [
  'COUPON_DATABASE_URL', 'ORDER_DATABASE_URL', 'REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS', 'REDIS_SENTINEL_NAME',
  'REDLOCK_URLS', 'HOST', 'PORT', 'JWT_SECRET', 'JWT_JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE', 'SERVICE_TOKEN', 'COUPON_URL',
  'LAB', 'RATE_LIMIT_USER', 'RATE_LIMIT_ADDRESS', 'RATE_LIMIT_COUPON',
]; // prettier-ignore

/** The caller's choice under npm start; left out of npm test, whose specs say what they need. */
export const CHOSEN = [
  'ISSUE_STRATEGY', 'STOCK_STRATEGY', 'COORDINATION', 'LOCK_TTL_MS', 'LOCK_WAIT_MS', 'LOCK_RECHECK_MS', 'LOCK_MAX_WAITERS',
  'LOCK_BACKEND_DOWN', 'LAB_BACKOFF', 'ORDER_TTL_MS', 'DATABASE_POOL_SIZE', 'TRUST_PROXY', 'CORS_ORIGINS', 'LOG_LEVEL',
]; // prettier-ignore

/** A copy without these names, their NAME_FILE forms, and the PG* variables that pg and the PostgreSQL programs listen to. */
export function without(env, names) {
  const dropped = new Set(names.flatMap((name) => [name, `${name}_FILE`]));
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !dropped.has(name) && !/^PG[A-Z]+$/.test(name) && !name.startsWith('npm_')),
  );
}

/** What a server program gets: no secrets, no locale it may not have. */
export const serverEnvironment = (env = process.env) => ({
  PATH: env.PATH ?? '/usr/bin:/bin',
  ...(env.TMPDIR && { TMPDIR: env.TMPDIR }),
  LC_ALL: 'C',
  TZ: 'UTC',
});
