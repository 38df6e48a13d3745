// What a block cost: counters before and after. Each is taken where it is kept (PostgreSQL, Redis, the apps' /metrics), so
// that nothing has to be believed; a counter that cannot be read is absent, never 0.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parsePrometheus, sumOf } from './lib/prometheus.js';
import type { Sample } from './lib/prometheus.js';
import { applicationName, rowsOf } from './stores.js';
import type { Stores } from './stores.js';
import type { System } from './system.js';

export interface Counters {
  /** Commands that Redis executed, those inside scripts included: it does not tell them apart. */
  redisCommands: number;
  redisScripts: number;
  redisCpuSeconds: number;
  transactions: number;
  deadlocks: number;
  appCpuSeconds?: number;
  postgresCpuSeconds?: number;
  samples: Sample[];
}

export async function readCounters(system: System, stores: Stores): Promise<Counters> {
  const [commands, redisCpuSeconds, coupon, order, samples, postgresCpuSeconds] = await Promise.all([
    commandsOf(stores),
    redisCpuOf(stores),
    statisticsOf(stores, 'coupon'),
    statisticsOf(stores, 'order'),
    samplesOf(system),
    postgresCpuOf(stores),
  ]);
  const appCpuSeconds = sumOf(samples, 'process_cpu_seconds_total');
  return {
    ...commands,
    redisCpuSeconds,
    transactions: coupon.transactions + order.transactions,
    deadlocks: coupon.deadlocks + order.deadlocks,
    ...(appCpuSeconds !== undefined && { appCpuSeconds }),
    ...(postgresCpuSeconds !== undefined && { postgresCpuSeconds }),
    samples,
  };
}

async function commandsOf({ redis }: Stores): Promise<Pick<Counters, 'redisCommands' | 'redisScripts'>> {
  const calls = [...(await redis.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  const sum = (wanted: (name: string) => boolean) =>
    calls.filter(([, name]) => wanted(name!)).reduce((total, [, , count]) => total + Number(count), 0);
  // INFO, CONFIG and SCAN are this runner's own.
  const own = (name: string) => /^(info|config|scan|client)\b/.test(name);
  return {
    redisCommands: sum((name) => !own(name)),
    redisScripts: sum((name) => /^(eval|fcall)/.test(name)),
  };
}

async function redisCpuOf({ redis }: Stores): Promise<number> {
  const info = await redis.info('cpu');
  const seconds = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1] ?? 0);
  return seconds('used_cpu_user') + seconds('used_cpu_sys');
}

async function statisticsOf(stores: Stores, app: 'coupon' | 'order') {
  const [row] = await rowsOf<{ transactions: string; deadlocks: string }>(
    stores[app],
    `select xact_commit + xact_rollback as transactions, deadlocks from pg_stat_database where datname = current_database()`,
  );
  return { transactions: Number(row?.transactions), deadlocks: Number(row?.deadlocks) };
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
    const clients = Number(/connected_clients:(\d+)/.exec(await stores.redis.info('clients'))?.[1] ?? 1);
    peak.postgresConnections = Math.max(peak.postgresConnections, row?.count ?? 0);
    peak.redisConnections = Math.max(peak.redisConnections, clients - 1);
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

async function isQuiet({ coupon, redis }: Stores): Promise<boolean> {
  const [row] = await rowsOf<{ busy: number }>(
    coupon,
    `select count(*)::int as busy from pg_stat_activity
      where backend_type = 'client backend' and application_name <> $1 and state <> 'idle'`,
    [applicationName],
  );
  if ((row?.busy ?? 0) > 0) return false;
  for await (const keys of redis.scanStream({ match: 'lock:*', count: 1000 }) as AsyncIterable<string[]>) {
    if (keys.some((key) => !/^lock:(fence:|(queue:)?\{?(job|desk):)/.test(key))) return false;
  }
  return true;
}

/**
 * PostgreSQL adds a connection's statistics up at most once a second, and at the end of a statement only. So after a second
 * of quiet every connection of the apps' pools is given a small read, and only then the counters are true.
 */
export async function flushStatistics({ coupon, order }: System): Promise<void> {
  await pause(1050);
  const reads = [
    ...coupon.map((url) => `${url}/v1/coupons?limit=1`),
    ...order.map((url) => `${url}/v1/products?limit=1`),
  ];
  await Promise.all(
    reads.flatMap((url) => Array.from({ length: 40 }, () => fetch(url).then((response) => response.text()))),
  );
}
