// npm start: everything from a fresh clone to four ready instances, and a clean end on Ctrl-C. CONTRACT.md section 1.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { startApps } from './apps.mjs';
import { banner } from './banner.mjs';
import { build } from './build.mjs';
import { ensureDatabase } from './databases.mjs';
import { loadDemo } from './demo.mjs';
import { install } from './install.mjs';
import { inData, runningFile, startFile } from './paths.mjs';
import { whenParentDies } from './processes.mjs';
import { explain, say, step } from './progress.mjs';
import { cleanUpDeadRuns, readRunning, Run } from './runs.mjs';
import { secret } from './secrets.mjs';
import { userServices } from './services.mjs';
import { signToken } from './tokens.mjs';

let run;
let ending;

/** Apps, Redis, PostgreSQL, in this order; safe to call again (npm passes a Ctrl-C on that the terminal already sent). */
function end(code, why) {
  ending ??= (async () => {
    if (why) say(why);
    rmSync(runningFile, { force: true });
    await run?.stop(say);
    if (why) say('Stopped.');
    process.exit(code);
  })();
  return ending;
}

async function main() {
  const orphans = await cleanUpDeadRuns();
  if (orphans.length > 0) say(`Stopped what a killed run had left: ${orphans.join(', ')}`);
  run = Run.open(startFile);
  if (!run) return refuse();

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => void end(0, `${signal}: stopping ...`));
  setInterval(() => {}, 2 ** 30); // its children are not waited for; the run lasts until a signal
  whenParentDies(() => void end(1, 'npm was killed: stopping ...'));
  rmSync(runningFile, { force: true });

  await install();
  mkdirSync(inData('logs'), { recursive: true });
  const services = await step('Getting PostgreSQL and Redis', () => userServices(run));
  await Promise.all([services.couponDatabaseUrl, services.orderDatabaseUrl].map(ensureDatabase));
  await build();
  const urls = await startApps({ run, services, stopping: () => ending !== undefined });

  const running = {
    pid: process.pid,
    ...urls,
    lab: null,
    couponDatabaseUrl: services.couponDatabaseUrl,
    orderDatabaseUrl: services.orderDatabaseUrl,
    redisUrl: services.redisUrl,
    redlockUrls: services.redlockUrls
      .split(',')
      .map((url) => url.trim())
      .filter(Boolean),
    serviceToken: secret('service-token'),
    // As long as a development system may run; the tokens of `npm run token` last 24 h.
    adminToken: signToken({ sub: 'admin', role: 'admin', hours: 24 * 30 }),
  };
  const demo = await loadDemo({ coupon: urls.coupon[0], order: urls.order[0], adminToken: running.adminToken });
  run.state.redlockUrls = services.redlockUrls;
  run.save();
  if (ending) return;
  writeFileSync(`${runningFile}.new`, JSON.stringify(running), { mode: 0o600 });
  renameSync(`${runningFile}.new`, runningFile);
  say('Ready.');
  console.log(banner(running, demo));
}

function refuse() {
  const running = readRunning();
  console.error(`npm start already runs here (pid ${running?.pid ?? 'unknown'}).`);
  if (running?.ready)
    console.error(`  coupon   ${running.coupon.join('   ')}\n  order    ${running.order.join('   ')}`);
  else console.error('It is not ready yet; its URLs will be in .data/running.json.');
  process.exitCode = 1;
}

main().catch((error) => {
  if (ending) return; // what a stop interrupted is no news
  console.error(`\n${explain(error)}`);
  void end(1);
});
