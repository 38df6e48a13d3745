// npm run reset: empties the databases and Redis of npm start. While it runs: every table but the migrations, then Redis,
// then the demo data again. While it is stopped: the files; databases named by URLs in the environment are emptied in place.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { removeElsewhere } from './accounts.mjs';
import { removeVolumes } from './compose.mjs';
import { truncateAll, withRedis, withoutPassword } from './databases.mjs';
import { forgetDemo, loadDemo } from './demo.mjs';
import { inData, startFile } from './paths.mjs';
import { explain, say, UserError } from './progress.mjs';
import { cleanUpDeadRuns, readRun, readRunning } from './runs.mjs';

async function main() {
  await cleanUpDeadRuns();
  const running = readRunning();
  if (running && !running.ready)
    throw new UserError(`npm start (pid ${running.pid}) is not ready yet: wait, then reset.`);
  if (running) return resetRunning(running);
  return resetStopped();
}

async function resetRunning(running) {
  const redlock = readRun(startFile)?.state.redlockUrls?.split(',') ?? [];
  for (const url of [running.couponDatabaseUrl, running.orderDatabaseUrl]) await truncateAll(url);
  for (const url of [running.redisUrl, ...redlock]) await withRedis(url, (redis) => redis.flushdb());
  forgetDemo();
  const demo = await loadDemo({ coupon: running.coupon[0], order: running.order[0], adminToken: running.adminToken });
  say(
    `Reset: both databases and Redis are empty but for the demo data (coupon ${demo.couponId}, product ${demo.productId}).`,
  );
}

async function resetStopped() {
  const { COUPON_DATABASE_URL: coupon, ORDER_DATABASE_URL: order, REDIS_URL: redis } = process.env;
  const emptied = [];
  for (const url of [coupon, order].filter(Boolean)) {
    await truncateAll(url);
    emptied.push(withoutPassword(url));
  }
  if (redis) {
    await withRedis(redis, (client) => client.flushdb());
    emptied.push(withoutPassword(redis));
  }
  for (const name of serverFiles()) {
    // Notes, not data: the volumes of compose.mjs, and the other place of PostgreSQL's files, see accounts.mjs.
    if (name === 'compose') removeVolumes(readFileSync(inData('servers', name), 'utf8'));
    if (name.endsWith('.elsewhere')) removeElsewhere(inData('servers', name));
    rmSync(inData('servers', name), { recursive: true, force: true });
    emptied.push(`.data/servers/${name}`);
  }
  forgetDemo();
  say(emptied.length > 0 ? `Reset: emptied ${emptied.join(', ')}.` : 'Reset: there was nothing to empty.');
}

function serverFiles() {
  try {
    return readdirSync(inData('servers'));
  } catch {
    return [];
  }
}

main().catch((error) => {
  console.error(explain(error));
  process.exitCode = 1;
});
