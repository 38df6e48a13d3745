// What a block cost: counters before and after. Each is taken where it is kept (PostgreSQL, Redis, the apps' /metrics), so
// that nothing has to be believed; a counter that cannot be read is absent, never 0.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { parsePrometheus, sumOf } from './lib/prometheus.js';
import type { Sample } from './lib/prometheus.js';
import { applicationName, rowsOf } from './stores.js';
import type { Stores } from './stores.js';
import type { System } from './system.js';

interface Work {
  /** Commands that Redis executed, those inside scripts included: it does not tell them apart. */
  redisCommands: number;
  redisScripts: number;
  redisCpuSeconds: number;
  /** How many servers these three are the sum of; absent where the system does not say which `redlock` uses. */
  redisServers?: number;
  appCpuSeconds?: number;
  postgresCpuSeconds?: number;
  samples: Sample[];
}

interface Statistics {
  transactions: number;
  deadlocks: number;
}

export interface Counters extends Work, Statistics {}

/** At the beginning of a block: what the warm-up did is counted by then, and is not the block's. */
export async function countersBefore(system: System, stores: Stores): Promise<Counters> {
  const statistics = await readStatistics(system, stores);
  return { ...statistics, ...(await readWork(system, stores)) };
}

/** At its end: first what the reads that bring the statistics up to date would add to. */
export async function countersAfter(system: System, stores: Stores): Promise<Counters> {
  const work = await readWork(system, stores);
  return { ...work, ...(await readStatistics(system, stores)) };
}

async function readWork(system: System, stores: Stores): Promise<Work> {
  const [servers, samples, postgresCpuSeconds] = await Promise.all([
    Promise.all(stores.redisServers.map(({ redis }) => workOf(redis))),
    samplesOf(system),
    postgresCpuOf(stores),
  ]);
  const sum = (name: 'redisCommands' | 'redisScripts' | 'redisCpuSeconds') =>
    servers.reduce((total, server) => total + server[name], 0);
  const appCpuSeconds = sumOf(samples, 'process_cpu_seconds_total');
  return {
    redisCommands: sum('redisCommands'),
    redisScripts: sum('redisScripts'),
    redisCpuSeconds: sum('redisCpuSeconds'),
    ...(system.redlockUrls && { redisServers: servers.length }),
    ...(appCpuSeconds !== undefined && { appCpuSeconds }),
    ...(postgresCpuSeconds !== undefined && { postgresCpuSeconds }),
    samples,
  };
}

async function workOf(redis: Redis) {
  const [commands, cpu] = await Promise.all([redis.info('commandstats'), redis.info('cpu')]);
  const calls = [...commands.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  const sum = (wanted: (name: string) => boolean) =>
    calls.filter(([, name]) => wanted(name!)).reduce((total, [, , count]) => total + Number(count), 0);
  // INFO, CONFIG and SCAN are this runner's own.
  const own = (name: string) => /^(info|config|scan|client)\b/.test(name);
  const seconds = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(cpu)?.[1] ?? 0);
  return {
    redisCommands: sum((name) => !own(name)),
    redisScripts: sum((name) => /^(eval|fcall)/.test(name)),
    redisCpuSeconds: seconds('used_cpu_user') + seconds('used_cpu_sys'),
  };
}

/** Before every block: what was counted so far is not its own. */
export async function resetRedisCounters({ redisServers }: Stores): Promise<void> {
  await Promise.all(redisServers.map(({ redis }) => redis.config('RESETSTAT')));
}

/**
 * PostgreSQL adds a connection's statistics up at most once a second, and at the end of a statement only. So after a second
 * of quiet every connection of the apps' pools is given a small read, and this runner's own a statement; only then the
 * counters are true. What all of that adds is known and taken out again.
 */
async function readStatistics(system: System, stores: Stores): Promise<Statistics> {
  await pause(1050);
  await Promise.all([
    ...system.coupon.map((url) => readOften(`${url}/v1/coupons?limit=1`, stores.own, 'coupon')),
    ...system.order.map((url) => readOften(`${url}/v1/products?limit=1`, stores.own, 'order')),
  ]);
  const [coupon, order] = [await statisticsOf(stores, 'coupon'), await statisticsOf(stores, 'order')];
  return {
    transactions: coupon.transactions + order.transactions,
    deadlocks: coupon.deadlocks + order.deadlocks,
  };
}

/** Often enough that none of the pool's connections is left out; each of these reads is one statement, one transaction. */
async function readOften(url: string, own: Stores['own'], app: 'coupon' | 'order'): Promise<void> {
  const read = async () => {
    const response = await fetch(url);
    await response.text();
    if (response.ok) own[app] += 1;
  };
  await Promise.all(Array.from({ length: 40 }, read));
}

async function statisticsOf(stores: Stores, app: 'coupon' | 'order'): Promise<Statistics> {
  // Brings this runner's own connection up to date, which only a statement that reads a table does; the one that reads the
  // statistics is not in what it reads.
  await rowsOf(stores[app], 'select from pg_class limit 1');
  const own = stores.own[app];
  const [row] = await rowsOf<{ transactions: string; deadlocks: string }>(
    stores[app],
    `select xact_commit + xact_rollback as transactions, deadlocks from pg_stat_database where datname = current_database()`,
  );
  return { transactions: Number(row?.transactions) - own, deadlocks: Number(row?.deadlocks) };
}

async function samplesOf({ coupon, order }: System): Promise<Sample[]> {
  const texts = await Promise.all(
    [...coupon, ...order].map((url) =>
      fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5000) }).then((r) => r.text()),
    ),
  );
  return texts.flatMap(parsePrometheus);
}

/** The server's processes, where they run on this machine under Linux: the postmaster, its children, and those it buried. */
async function postgresCpuOf(stores: Stores): Promise<number | undefined> {
  const [row] = await rowsOf<{ pid: number }>(stores.coupon, 'select pg_backend_pid() as pid');
  const backend = processStat(row?.pid);
  const postmaster = backend && processStat(backend.parent);
  if (!postmaster?.name.includes('postgres')) return undefined;
  let ticks = postmaster.own + postmaster.buried;
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? processStat(Number(name)) : undefined;
    if (stat?.parent === backend?.parent) ticks += stat!.own;
  }
  return ticks / 100;
}

function processStat(pid: number | undefined) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = (...places: number[]) => places.reduce((sum, place) => sum + Number(words[place]), 0);
    return {
      name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
      parent: Number(words[1]),
      own: ticks(11, 12),
      buried: ticks(13, 14),
    };
  } catch {
    return undefined;
  }
}

export interface Peak {
  postgresConnections: number;
  redisConnections: number;
}

/** Looks every half second how many connections there are; `stop` tells the most that were seen at once. */
export function watchConnections(stores: Stores): { stop(): Promise<Peak> } {
  const peak: Peak = { postgresConnections: 0, redisConnections: 0 };
  const watching = new AbortController();
  const look = async () => {
    const [row] = await rowsOf<{ count: number }>(
      stores.coupon,
      `select count(*)::int as count from pg_stat_activity where backend_type = 'client backend' and application_name <> $1`,
      [applicationName],
    );
    const clients = await Promise.all(
      stores.redisServers.map(
        async ({ redis, own }) => Number(/connected_clients:(\d+)/.exec(await redis.info('clients'))?.[1] ?? own) - own,
      ),
    );
    peak.postgresConnections = Math.max(peak.postgresConnections, row?.count ?? 0);
    peak.redisConnections = Math.max(
      peak.redisConnections,
      clients.reduce((sum, count) => sum + count, 0),
    );
  };
  const watched = (async () => {
    while (!watching.signal.aborted) {
      await look().catch(() => {});
      await pause(500);
    }
  })();
  return {
    stop: async () => {
      watching.abort();
      await watched;
      return peak;
    },
  };
}

const quietWithinMs = 20_000;

/** Until no statement runs and no lock is held or waited for. Answers whether it came to that. */
export async function untilQuiet(stores: Stores): Promise<boolean> {
  const deadline = performance.now() + quietWithinMs;
  let calm = 0;
  while (performance.now() < deadline) {
    calm = (await isQuiet(stores)) ? calm + 1 : 0;
    if (calm === 3) return true;
    await pause(60);
  }
  return false;
}

async function isQuiet({ coupon, lockStores }: Stores): Promise<boolean> {
  const [row] = await rowsOf<{ busy: number }>(
    coupon,
    `select count(*)::int as busy from pg_stat_activity
      where backend_type = 'client backend' and application_name <> $1 and state <> 'idle'`,
    [applicationName],
  );
  if ((row?.busy ?? 0) > 0) return false;
  for (const redis of lockStores) {
    for await (const keys of redis.scanStream({ match: 'lock:*', count: 1000 }) as AsyncIterable<string[]>) {
      if (keys.some((key) => !/^lock:(fence:|(queue:)?\{?(job|desk):)/.test(key))) return false;
    }
  }
  return true;
}
