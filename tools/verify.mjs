// npm run verify: every invariant of CONTRACT.md section 6 on the running system, one line each; exit 1 on a breach.
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { withClient, withRedis } from './databases.mjs';
import { inRoot } from './paths.mjs';
import { explain, UserError } from './progress.mjs';
import { requireRunning } from './runs.mjs';

const QUIET_WITHIN_MS = 6000; // longer than the TTL of a lock whose holder has just died

async function databaseInvariants(app, url) {
  const file = inRoot('dist', 'apps', app, 'src', 'invariants.js');
  if (!existsSync(file)) throw new UserError(`${file} is missing: npm run build makes it.`);
  const { invariants, unguarded } = await import(pathToFileURL(file));
  return withClient(url, async (client) => {
    const results = [];
    // What the negative control has done is told, and judged by nobody.
    if (unguarded) {
      const { issued, total } = (await client.query(unguarded)).rows[0];
      const what = app === 'order' ? ', pieces of stock' : '';
      console.log(`none: ${issued} issued of ${total} (unguarded, not judged)${what}`);
    }
    for (const invariant of invariants) {
      const { id, name } = invariant;
      results.push({ id, name: `${app}: ${name}`, breaches: await breachesOf(client, invariant) });
    }
    return results;
  });
}

/** Rows that a statement selects; or what an attempt at something forbidden brought, which is rolled back. */
async function breachesOf(client, { text, attempt }) {
  const ask = async (statement, values) => (await client.query(statement, values)).rows;
  if (text) return ask(text);
  await client.query('begin');
  try {
    return await attempt(ask);
  } finally {
    await client.query('rollback');
  }
}

/** I11. Fence counters never expire by design; nothing else below lock: may live for ever, or be left when all is quiet. */
async function lockInvariants(redisUrl) {
  return withRedis(redisUrl, async (redis) => {
    const eternal = [];
    let held = [];
    const deadline = performance.now() + QUIET_WITHIN_MS;
    do {
      held = [];
      for await (const keys of redis.scanStream({ match: 'lock:*', count: 500 })) {
        for (const key of keys.filter((name) => !name.startsWith('lock:fence:'))) {
          const ttlMs = await redis.pttl(key);
          if (ttlMs === -1) eternal.push({ key });
          if (ttlMs !== -2 && !/^lock:(queue:)?\{?(job|desk):/.test(key)) held.push({ key, ttlMs });
        }
      }
    } while (held.length > 0 && eternal.length === 0 && performance.now() < deadline && (await pause(200, true)));
    return [
      { id: 'I11', name: 'no lock key without a TTL', breaches: eternal },
      { id: 'I11', name: 'at rest no lock key and no waiting line but job:* and desk:*', breaches: held },
    ];
  });
}

async function main() {
  const running = requireRunning('verify');
  const results = [
    ...(await databaseInvariants('coupon', running.couponDatabaseUrl)),
    ...(await databaseInvariants('order', running.orderDatabaseUrl)),
    ...(await lockInvariants(running.redisUrl)),
  ];
  for (const { id, name, breaches } of results.toSorted((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)))) {
    const shown = breaches
      .slice(0, 3)
      .map((row) => JSON.stringify(row))
      .join(' ');
    console.log(
      breaches.length === 0 ? `ok      ${id}  ${name}` : `BREACH  ${id}  ${name}: ${breaches.length} row(s), ${shown}`,
    );
  }
  const broken = results.filter(({ breaches }) => breaches.length > 0).length;
  console.log(broken === 0 ? `all ${results.length} hold` : `${broken} of ${results.length} broken`);
  process.exitCode = broken === 0 ? 0 : 1;
}

main().catch((error) => {
  console.error(explain(error));
  process.exitCode = 1;
});
