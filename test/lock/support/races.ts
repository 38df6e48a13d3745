import { LockWaitTimeoutError, type LockEvent, type StrategyName } from '@firstcome/lock';
import { connect, type Connected } from './connection.js';
import { judge } from './journal.js';
import { Monitor } from './monitor.js';
import { seeded } from './random.js';
import { until } from './waiting.js';
import type { WorkOrder, WorkReport } from './worker-verbs.js';
import type { WorkerProcess } from './workers.js';

/** So long that nothing but a wake-up can end a wait before its deadline. */
const never = { ttlMs: 120_000, recheckMs: 120_000 };
const deadlineMs = 15_000;

export interface RaceReport {
  races: number;
  overlaps: number;
  lostWakeUps: number;
  /** Waits that were ended by a wake-up: the rest found the lock free. A run without them has exercised nothing. */
  woken: number;
}

/**
 * One client releases while another begins to wait, over and over: their commands meet the server in every order. Which of
 * them goes first, and by how many turns of the event loop, comes from the seed.
 */
export async function raceReleaseAgainstWait(
  port: number,
  strategy: StrategyName,
  races: number,
  seed: number,
): Promise<RaceReport> {
  const random = seeded(seed);
  const report: RaceReport = { races: 0, overlaps: 0, lostWakeUps: 0, woken: 0 };
  const onEvent = (event: LockEvent) => {
    if (event.type === 'acquired' && event.handoffMs !== undefined) report.woken += 1;
  };
  const clients = [connect({ port }, onEvent), connect({ port }, onEvent)];
  for (const { locks } of clients) await locks.withLock('warm-up', async () => undefined, { strategy });
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
  };
  const lane = async (key: string) => {
    while (report.races < races) {
      report.races += 1;
      const [holder, waiter] = (random() < 0.5 ? clients : clients.toReversed()) as [Connected, Connected];
      const lease = await holder.locks.acquire(key, { ...never, strategy });
      let free = false;
      const release = turns(Math.floor(random() * 4)).then(() => {
        free = true;
        return lease.release();
      });
      const wait = turns(Math.floor(random() * 4)).then(async () => {
        const next = await waiter.locks.acquire(key, { ...never, strategy, waitMs: deadlineMs });
        if (!free) report.overlaps += 1;
        await next.release();
      });
      const [, waited] = await Promise.allSettled([release, wait]);
      if (waited.status === 'fulfilled') continue;
      if (!(waited.reason instanceof LockWaitTimeoutError)) throw waited.reason;
      report.lostWakeUps += 1;
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_, index) => lane(`race:${strategy}:${index}`)));
  await Promise.all(clients.map((client) => client.close()));
  return report;
}

export interface OrderReport {
  grants: number;
  /** Grants that came before one who had lined up earlier, by the order in which the server entered them in its line. */
  inversions: number;
  overlaps: number;
  /** How many had to line up: the rest found nobody before them. */
  linedUp: number;
  /** Entries that stood in the line twice: their process had not claimed in time, was taken for dead and put out of it. */
  linedUpAgain: number;
}

/** Many callers in several processes take turns under `queue`; MONITOR tells who reached the server first. */
export async function queueInOrder(
  port: number,
  processes: readonly WorkerProcess[],
  grants: number,
  callers: number,
): Promise<OrderReport> {
  const arrivals = new Map<string, number>();
  const standing = new Set<string>();
  let arrived = 0;
  let linedUpAgain = 0;
  const monitor = await Monitor.start(port, ({ args, script }) => {
    if (!args.includes('lock:queue:order')) return;
    // Either the script enters the token in the line, or its first command is granted at once. A negative score is the offer.
    const entered = script && args[0] === 'ZADD' && !args[2]?.startsWith('-');
    const [token] = args.flatMap((arg) => /^(?:[0-9a-f]+:)?([0-9a-f]{32})$/.exec(arg)?.[1] ?? []);
    if (!token || (script && !entered)) return;
    if (entered && standing.has(token)) linedUpAgain += 1;
    if (entered) standing.add(token);
    if (!entered && arrivals.has(token)) return;
    arrived += 1;
    arrivals.set(token, arrived);
  });
  const share = (whole: number) => Math.ceil(whole / processes.length);
  const options = { ...never, strategy: 'queue' as const, waitMs: 600_000 };
  const reports = await work(processes, {
    keys: ['order'],
    lanes: share(callers),
    grants: share(grants),
    options,
  });
  const granted = reports.flatMap(({ entries }) => entries);
  await until('MONITOR has told all', () => granted.every(({ token }) => arrivals.has(token)));
  await monitor.stop();
  let inversions = 0;
  let latest = -1;
  for (const { token } of granted.toSorted((one, other) => one.fence - other.fence)) {
    const arrival = arrivals.get(token)!;
    if (arrival < latest) inversions += 1;
    latest = Math.max(latest, arrival);
  }
  const linedUp = reports.reduce((sum, { woken }) => sum + woken, 0);
  return { grants: granted.length, inversions, overlaps: judge(granted).overlaps.length, linedUp, linedUpAgain };
}

/** The same between processes: every key has one caller in each, so that a release meets the other ones' waits. */
export async function raceBetweenProcesses(
  processes: readonly WorkerProcess[],
  strategy: StrategyName,
  races: number,
  seed: number,
): Promise<RaceReport> {
  const reports = await work(processes, {
    keys: Array.from({ length: 10 }, (_, index) => `race:${strategy}:${index}`),
    lanes: 1,
    grants: Math.ceil(races / processes.length),
    turns: { most: 3, seed },
    options: { ...never, strategy, waitMs: deadlineMs },
  });
  const entries = reports.flatMap((report) => report.entries);
  const refusals = reports.flatMap((report) => Object.entries(report.refusals));
  const strange = refusals.find(([code]) => code !== 'LOCK_TIMEOUT');
  if (strange) throw new Error(`refused with ${strange[0]}, ${strange[1]} times`);
  return {
    races: entries.length,
    overlaps: judge(entries).overlaps.length,
    lostWakeUps: refusals.reduce((sum, [, times]) => sum + times, 0),
    woken: reports.reduce((sum, { woken }) => sum + woken, 0),
  };
}

async function work(processes: readonly WorkerProcess[], order: WorkOrder): Promise<WorkReport[]> {
  await Promise.all(processes.map((each) => each.ask('startWork', order)));
  return Promise.all(processes.map((each) => each.ask('finishWork')));
}
