// Gets PostgreSQL and Redis from the first source that works, each by itself:
// (1) URLs in the environment, (2) programs on this machine, (3) Docker Compose, (4) the ones that npm ships.
// FIRSTCOME_SERVERS=native|docker|npm leaves the other sources out, to try one of them on purpose.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { serverAccount, temporaryFolder } from './accounts.mjs';
import { composeMissing, composeUp } from './compose.mjs';
import { waitForDatabase, waitForRedis, withClient, withRedis, withoutPassword } from './databases.mjs';
import { lanesOf, listOf } from './lanes.mjs';
import { findPostgres, findRedis, findShippedPostgres, findShippedRedis } from './programs.mjs';
import { inData, root } from './paths.mjs';
import { startPostgres } from './postgres.mjs';
import { say, UserError } from './progress.mjs';
import { startRedis } from './redis.mjs';
import { secret, writeComposeSecrets } from './secrets.mjs';

const never = new Promise(() => {});

/** The servers of npm start: data in .data/, kept. */
export async function userServices(run, env = process.env) {
  const { COUPON_DATABASE_URL: coupon, ORDER_DATABASE_URL: order, REDIS_URL: redisUrl } = env;
  if (Boolean(coupon) !== Boolean(order)) {
    throw new UserError(
      'Set both COUPON_DATABASE_URL and ORDER_DATABASE_URL, or neither: then npm start brings its own PostgreSQL.',
    );
  }
  const place = {
    run,
    env,
    durable: true,
    data: inData('servers'),
    logs: inData('logs'),
    password: secret('postgres-password'),
  };
  place.project = `firstcome-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`;
  const postgres = await getPostgres(place, {
    names: 'COUPON_DATABASE_URL and ORDER_DATABASE_URL',
    urls: coupon && [coupon, order],
  });
  const redis = await getRedis(place, { names: 'REDIS_URL', url: redisUrl });
  return {
    couponDatabaseUrl: coupon ?? postgres.url('coupon'),
    orderDatabaseUrl: order ?? postgres.url('order'),
    redisUrl: redis.url,
    redlockUrls: env.REDLOCK_URLS || (await startRedlockServers(place)).join(','),
  };
}

/**
 * The servers of npm test, a pair for each lane (see lanes.mjs): data in temporary folders, removed; only the TEST_
 * variables count.
 */
export async function testServices(run, env = process.env) {
  const lanes = [];
  for (let lane = 1; lane <= lanesOf(env); lane += 1) lanes.push(await serversOfLane(run, env, lane));
  const native = env.FIRSTCOME_SERVERS === 'npm' ? {} : { postgres: findPostgres().bin, redis: findRedis().bin };
  return {
    TEST_DATABASE_URL: listOf(lanes.map(({ databaseUrl }) => databaseUrl)),
    TEST_REDIS_URL: listOf(lanes.map(({ redisUrl }) => redisUrl)),
    ...(native.postgres && { TEST_POSTGRES_BIN_DIR: native.postgres }),
    ...(native.redis && { TEST_REDIS_SERVER_BIN: native.redis }),
  };
}

async function serversOfLane(run, env, lane) {
  const folder = temporaryFolder(serverAccount());
  run.addFolder(folder);
  const place = {
    run,
    env,
    durable: false,
    data: folder,
    logs: join(folder, 'logs'),
    password: randomBytes(16).toString('hex'),
    project: `firstcome-test-${process.pid}-${lane}`,
  };
  const { TEST_DATABASE_URL: databaseUrl, TEST_REDIS_URL: redisUrl } = env;
  const postgres = await getPostgres(place, { names: 'TEST_DATABASE_URL', urls: databaseUrl && [databaseUrl] });
  const redis = await getRedis(place, { names: 'TEST_REDIS_URL', url: redisUrl });
  return { databaseUrl: databaseUrl ?? postgres.url('postgres'), redisUrl: redis.url };
}

/** The servers of a benchmark: in a temporary folder, removed, and as careful with their data as those of npm start. */
export async function benchServices(run, env = process.env) {
  const folder = temporaryFolder(serverAccount());
  run.addFolder(folder);
  const place = {
    run,
    env,
    durable: true,
    data: folder,
    logs: join(folder, 'logs'),
    password: randomBytes(16).toString('hex'),
    project: `firstcome-bench-${process.pid}`,
  };
  const postgres = await getPostgres(place, { reason: 'a benchmark brings its own' });
  const redis = await getRedis(place, { reason: 'a benchmark brings its own' });
  return {
    couponDatabaseUrl: postgres.url('coupon'),
    redisUrl: redis.url,
    redlockUrls: (await startRedlockServers(place)).join(','),
    logs: place.logs,
  };
}

async function getPostgres(place, { names, urls, reason = `${names} not set` }) {
  if (urls) {
    for (const url of urls) await mustAnswer(names, url, () => checkPostgres(url));
    say(`PostgreSQL: ${urls.map(withoutPassword).join(' and ')} (${names} in the environment)`);
    return {};
  }
  mkdirSync(place.data, { recursive: true });
  const start = (program) =>
    startPostgres({
      ...place,
      program,
      // One cluster per major version: another version cannot read its files.
      wanted: join(place.data, `postgres-${program.version.major}`),
      log: join(place.logs, 'postgres.log'),
    });
  return firstThatWorks(place, 'PostgreSQL', reason, {
    native: {
      find: findPostgres,
      start,
      name: (program) => `${program.version.text} of this machine, ${program.bin}`,
    },
    docker: { find: findCompose, start: () => composePostgres(place), name: () => 'in Docker Compose' },
    npm: { find: findShippedPostgres, start, name: (program) => `${program.version.text} shipped by npm` },
  });
}

async function getRedis(place, { names, url, reason = `${names} not set` }) {
  if (url) {
    await mustAnswer(names, url, () => withRedis(url, (redis) => redis.ping()));
    say(`Redis: ${withoutPassword(url)} (${names} in the environment)`);
    return { url };
  }
  const start = async (program) => ({ url: await startRedis(redisOptions(place, program, 'redis', place.durable)) });
  return firstThatWorks(place, 'Redis', reason, {
    native: {
      find: findRedis,
      start,
      name: (program) => `${program.name} ${program.version.text} of this machine, ${program.bin}`,
    },
    docker: { find: findCompose, start: () => composeRedis(place), name: () => 'in Docker Compose' },
    npm: {
      find: findShippedRedis,
      start,
      name: (program) => `${program.name} ${program.version.text} shipped by npm, which keeps nothing over a restart`,
    },
  });
}

/** Three small independent servers for the strategy `redlock`. */
async function startRedlockServers(place) {
  const native = allowed(place, 'native') ? findRedis() : { missing: 'left out' };
  const program = native.missing ? findShippedRedis() : native;
  if (program.missing) throw new UserError(`No Redis for the strategy redlock: ${native.missing}; ${program.missing}.`);
  const urls = await Promise.all([1, 2, 3].map((n) => startRedis(redisOptions(place, program, `redlock-${n}`, false))));
  say(`Redis for redlock: 3 x ${program.name} (REDLOCK_URLS not set)`);
  return urls;
}

function redisOptions({ run, data, logs }, program, name, durable) {
  // A file written by one kind and version is not promised to another.
  const folder = join(data, durable && !program.shipped ? `${program.name}-${program.version.major}` : name);
  return { run, program, name, folder, durable, log: join(logs, `${name}.log`) };
}

const allowed = ({ env }, source) => !env.FIRSTCOME_SERVERS || env.FIRSTCOME_SERVERS === source;

async function firstThatWorks(place, what, firstReason, sources) {
  if (place.env.FIRSTCOME_SERVERS && !sources[place.env.FIRSTCOME_SERVERS]) {
    throw new UserError(`FIRSTCOME_SERVERS=${place.env.FIRSTCOME_SERVERS} is unknown: native, docker or npm.`);
  }
  const only = place.env.FIRSTCOME_SERVERS;
  const reasons = only ? [firstReason, `FIRSTCOME_SERVERS=${only}`] : [firstReason];
  for (const [source, { find, start, name }] of Object.entries(sources)) {
    if (!allowed(place, source)) continue;
    const found = find();
    if (found.missing) {
      reasons.push(found.missing);
      continue;
    }
    try {
      const started = await start(found);
      say(`${what}: ${name(found)} (${reasons.join('; ')})`);
      return started;
    } catch (error) {
      say(`${what}: ${name(found)} does not work: ${error.message}`);
      reasons.push(`${name(found)} does not work`);
    }
  }
  throw new UserError(
    `No ${what} to be had: ${reasons.join('; ')}.\nInstall one (Debian: apt-get install postgresql redis-server), or set its URL.`,
  );
}

function findCompose() {
  const missing = composeMissing();
  return missing ? { missing } : {};
}

async function composePostgres({ run, project, durable }) {
  writeComposeSecrets();
  const port = await composeUp({ run, project, durable, service: 'postgres' });
  const url = (database) => `postgres://postgres:${secret('postgres-password')}@127.0.0.1:${port}/${database}`;
  await waitForDatabase(url('postgres'), never);
  return { url };
}

async function composeRedis({ run, project, durable }) {
  const port = await composeUp({ run, project, durable, service: 'redis' });
  await waitForRedis(`redis://127.0.0.1:${port}`, never);
  return { url: `redis://127.0.0.1:${port}` };
}

/** A URL that the caller set is meant: when it does not work, that is the message, not another server in silence. */
async function mustAnswer(names, url, ask) {
  try {
    await ask();
  } catch (error) {
    throw new UserError(
      `${withoutPassword(url)} does not answer: ${error.message || error.code}.\nCorrect ${names}, or unset it and get a private server.`,
    );
  }
}

async function checkPostgres(url) {
  try {
    const { rows } = await withClient(url, (client) => client.query('show max_prepared_transactions'));
    if (rows[0].max_prepared_transactions === '0') {
      say(
        `${withoutPassword(url)}: max_prepared_transactions is 0, so COORDINATION=2pc cannot work there; 64 is a good value`,
      );
    }
  } catch (error) {
    if (error.code !== '3D000') throw error; // the database itself is created later
  }
}
