import { Redis } from 'ioredis';
import type { StrategyName } from '@firstcome/lock';
import { judge } from './journal.js';
import { Ledger } from './ledger.js';
import { Proxy } from './proxy.js';
import { seeded } from './random.js';
import { startRedisServer, type RedisServer } from './redis-server.js';
import { sleep, until } from './waiting.js';
import type { WorkReport } from './worker-verbs.js';
import type { WorkerProcess, Workers } from './workers.js';

export interface StormReport {
  /** What the proxies really did: a storm that bit nobody proves nothing. */
  bites: Proxy['bites'];
  grants: number;
  /** Holds that were caught by a strike: lost by the clock, or refused by the guard. */
  harmed: number;
  refusals: Record<string, number>;
  overlaps: number;
  inversions: number;
  lostUpdates: number;
  /** How long the slowest call of any process took. */
  longestMs: number;
  keysLeft: string[];
}

export interface Storm {
  /** Kept from storm to storm: starting processes takes longer than striking them. */
  workers: Workers;
  /** In each, every fault once, in an order of its own. */
  rounds: number;
  seed: number;
  strategy?: StrategyName;
  /** The control: a store that grants everything must not look like a lock. */
  excludesNobody?: boolean;
}

const keys = ['storm:1', 'storm:2', 'storm:3'];
const options = { ttlMs: 800, recheckMs: 250, waitMs: 2500 };

/**
 * Everything at once, by the seed: four processes behind a proxy each take turns on three keys, while connections are slow,
 * cut or one-way, replies get lost, processes stop or die, and Redis hangs. Redis keeps its memory, so no two may overlap.
 */
export async function storm({ workers, rounds, seed, strategy, excludesNobody }: Storm): Promise<StormReport> {
  const random = seeded(seed);
  const locks = { defaults: { strategy } };
  const [server, resource] = await Promise.all([startRedisServer(), startRedisServer()]);
  const proxies = await Promise.all([1, 2, 3, 4].map((index) => Proxy.start(server.port, seed + index)));
  const ledger = new Ledger(resource.port);
  const admin = new Redis(server.port, { maxRetriesPerRequest: null });
  const reports: WorkReport[] = [];
  try {
    const begin = async (proxy: Proxy) => {
      const worker = await workers.start({ port: proxy.port, callTimeoutMs: 700, excludesNobody, locks });
      await worker.ask('startWork', { keys, lanes: 3, holdMs: 4, ledgerPort: resource.port, options });
      return worker;
    };
    const all = await Promise.all(proxies.map(begin));
    for (let round = 0; round < rounds; round += 1) {
      for (const fault of shuffled(faults, random)) {
        const at = Math.floor(random() * all.length);
        await fault.strike({ worker: all[at]!, proxy: proxies[at]!, server, admin, forMs: 100 + random() * 900 });
        if (fault.deadly) all[at] = await begin(proxies[at]!);
        await sleep(50 + random() * 200);
      }
    }
    server.resume();
    for (const proxy of proxies) proxy.heal();
    for (const worker of all) worker.resume();
    // Healed, they work on for a while: nothing may have stuck.
    await sleep(options.ttlMs + options.recheckMs);
    reports.push(...(await Promise.all(all.map((worker) => worker.ask('stopWork')))));
    await workers.rest();
    const keysLeft = await quietKeys(admin);
    const entries = reports.flatMap((report) => report.entries);
    const judged = judge(entries);
    const audits = await Promise.all(keys.map((key) => ledger.audit(key)));
    const refusals: Record<string, number> = {};
    for (const report of reports) {
      for (const [code, count] of Object.entries(report.refusals)) refusals[code] = (refusals[code] ?? 0) + count;
    }
    const bites = { held: 0, repliesDropped: 0, cut: 0, refused: 0 };
    for (const proxy of proxies) {
      for (const name of Object.keys(bites) as (keyof typeof bites)[]) bites[name] += proxy.bites[name];
    }
    return {
      bites,
      grants: entries.length,
      harmed: entries.filter(({ outcome }) => outcome === 'lost' || outcome === 'stale').length,
      refusals,
      overlaps: judged.overlaps.length,
      inversions: judged.inversions.length,
      lostUpdates: audits.reduce((sum, { lost }) => sum + lost, 0),
      longestMs: Math.max(...reports.map((report) => report.longestMs)),
      keysLeft,
    };
  } finally {
    admin.disconnect();
    ledger.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await Promise.all([server.stop(), resource.stop()]);
  }
}

interface Targets {
  worker: WorkerProcess;
  proxy: Proxy;
  server: RedisServer;
  admin: Redis;
  forMs: number;
}

interface Fault {
  strike(targets: Targets): Promise<unknown>;
  /** The worker does not outlive it. */
  deadly?: boolean;
}

/** Each of one process, or of the server; most heal before the next one strikes. */
const faults: Fault[] = [
  { strike: async ({ proxy, forMs }) => Object.assign(proxy, { delayMs: forMs / 20, jitterMs: forMs / 20 }) },
  { strike: async ({ proxy }) => proxy.cut() },
  { strike: async ({ proxy, forMs }) => Promise.race([proxy.dropReplyTo('lock:storm'), sleep(forMs)]) },
  ...(['requests', 'replies'] as const).map((direction) => ({
    strike: async ({ proxy, forMs }: Targets) => {
      proxy.blackHole(direction);
      await sleep(forMs);
      proxy.heal();
    },
  })),
  {
    strike: async ({ worker, forMs }) => {
      worker.pause();
      await sleep(options.ttlMs + forMs);
      worker.resume();
    },
  },
  { strike: async ({ worker }) => worker.kill(), deadly: true },
  {
    strike: async ({ server, forMs }) => {
      server.hang();
      await sleep(forMs);
      server.resume();
    },
  },
  { strike: async ({ admin }) => admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub') },
  { strike: async ({ admin }) => admin.script('FLUSH') },
];

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

async function quietKeys(admin: Redis): Promise<string[]> {
  let left: string[] = [];
  const none = async () => {
    left = (await admin.keys('*')).filter((key) => !key.startsWith('lock:fence:'));
    return left.length === 0;
  };
  await until('no lock key is left', none, 5000).catch(() => undefined);
  return left;
}
