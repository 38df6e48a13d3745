import { Redis } from 'ioredis';
import { judge } from './journal.js';
import { Ledger } from './ledger.js';
import { Proxy } from './proxy.js';
import { seeded } from './random.js';
import { startRedisServer, type RedisServer } from './redis-server.js';
import { now, sleep, until } from './waiting.js';
import type { WorkReport } from './worker-verbs.js';
import { WorkerProcess, Workers } from './workers.js';

export interface StormReport {
  strikes: Record<string, number>;
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

const keys = ['storm:1', 'storm:2', 'storm:3'];
const options = { ttlMs: 800, recheckMs: 250, waitMs: 2500 };

/**
 * Everything at once, by the seed: four processes behind a proxy each take turns on three keys, while connections are slow,
 * cut or one-way, replies get lost, processes stop or die, and Redis hangs. Redis keeps its memory, so no two may overlap.
 */
export async function storm(durationMs: number, seed: number): Promise<StormReport> {
  const random = seeded(seed);
  const workers = new Workers();
  const [server, resource] = await Promise.all([startRedisServer(), startRedisServer()]);
  const proxies = await Promise.all([1, 2, 3, 4].map((index) => Proxy.start(server.port, seed + index)));
  const ledger = new Ledger(resource.port);
  const admin = new Redis(server.port, { maxRetriesPerRequest: null });
  const reports: WorkReport[] = [];
  const strikes: Record<string, number> = {};
  try {
    const begin = async (proxy: Proxy) => {
      const worker = await workers.start({ port: proxy.port, callTimeoutMs: 700 });
      await worker.ask('startWork', { keys, lanes: 3, holdMs: 4, ledgerPort: resource.port, options });
      return worker;
    };
    const all = await Promise.all(proxies.map(begin));
    const end = now() + durationMs;
    const struck = new Set<number>();
    while (now() < end) {
      const at = Math.floor(random() * all.length);
      const name = await strike(random, { worker: all[at]!, proxy: proxies[at]!, server, admin });
      strikes[name] = (strikes[name] ?? 0) + 1;
      struck.add(at);
      if (name === 'kill') all[at] = await begin(proxies[at]!);
      await sleep(50 + random() * 250);
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
    return {
      strikes,
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
    await workers.stop();
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
}

/** One fault of one process, or of the server; most heal by themselves before the next one. */
async function strike(random: () => number, { worker, proxy, server, admin }: Targets): Promise<string> {
  const forMs = 100 + random() * 900;
  const [name, act] = (
    [
      ['slow', async () => void ((proxy.delayMs = random() * 60), (proxy.jitterMs = random() * 60))],
      ['cut', async () => proxy.cut()],
      ['reply lost', async () => void proxy.dropReplyTo('lock:storm')],
      ['requests held', async () => (proxy.blackHole('requests'), await sleep(forMs), proxy.heal())],
      ['replies held', async () => (proxy.blackHole('replies'), await sleep(forMs), proxy.heal())],
      ['subscribers killed', async () => void (await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub'))],
      ['stop', async () => (worker.pause(), await sleep(forMs * 1.5), worker.resume())],
      ['kill', async () => worker.kill()],
      ['server hangs', async () => (server.hang(), await sleep(forMs), server.resume())],
      ['scripts forgotten', async () => void (await admin.script('FLUSH'))],
    ] as const
  )[Math.floor(random() * 10)]!;
  await act();
  return name;
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
