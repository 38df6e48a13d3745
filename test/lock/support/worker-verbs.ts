import { getActiveResourcesInfo } from 'node:process';
import { LockError, type Lease, type LockOptions } from '@firstcome/lock';
import { connect, type Connected, type Connection } from './connection.js';
import type { Entry } from './journal.js';
import { Ledger } from './ledger.js';
import { seeded } from './random.js';
import { now, sleep, until } from './waiting.js';

export interface Granted {
  lease: number;
  fence: number;
  invokedAt: number;
  grantedAt: number;
}

export interface WriteReport {
  /** What `assertHeld` said just before. */
  held: boolean;
  accepted: boolean;
}

export interface WorkOrder {
  keys: string[];
  /** Concurrent callers per key. */
  lanes: number;
  /** Ends after this many grants of this process, or when told to. */
  grants?: number;
  holdMs?: number;
  options?: LockOptions;
  /** Reads and writes the guarded counter in every hold. */
  ledgerPort?: number;
  /** Beside it, calls for keys of their own: nothing is held there from before, so they find the moment the store is back. */
  probe?: boolean;
  /** Before each call, and in each hold, up to as many turns of the event loop, by chance from this seed. */
  turns?: { most: number; seed: number };
  /** Between a refusal and the next try. */
  pauseMs?: number;
}

export interface WorkReport {
  entries: Entry[];
  probes: Entry[];
  refusals: Record<string, number>;
  /** Waits that were ended by a wake-up. */
  woken: number;
  /** The longest single call, from its start to its end, whatever the end was. */
  longestMs: number;
}

export interface Baseline {
  timers: number;
  sockets: number;
  listeners: number;
  holds: number;
  waiters: number;
  tidying: number;
}

let connected: Connected;
const leases = new Map<number, Lease>();
const ledgers = new Map<number, Ledger>();
let leaseIds = 0;
let listenersAtFirst = 0;
let working: Promise<WorkReport> | undefined;
let entriesSoFar: readonly Entry[] = [];
let stopped = false;
let woken = 0;

/** What a parent can ask of a worker process. Everything in and out is plain data. */
export const verbs = {
  async connect(connection: Connection): Promise<void> {
    connected = connect(connection, (event) => {
      if (event.type === 'acquired' && event.handoffMs !== undefined) woken += 1;
    });
    const answers = () =>
      connected.locks.isLocked('warm-up').then(
        () => true,
        () => false,
      );
    await until('the store answers', answers);
    listenersAtFirst = listeners();
  },

  async acquire({ key, options }: { key: string; options?: LockOptions }): Promise<Granted> {
    const invokedAt = now();
    const lease = await connected.locks.acquire(key, options);
    leaseIds += 1;
    leases.set(leaseIds, lease);
    return { lease: leaseIds, fence: lease.fence, invokedAt, grantedAt: now() };
  },

  async release({ lease }: { lease: number }): Promise<string> {
    const released = leaseOf(lease).release();
    leases.delete(lease);
    return released;
  },

  async held({ lease }: { lease: number }): Promise<boolean> {
    return isHeld(leaseOf(lease));
  },

  /** The event loop does nothing else for as long; what the lease then says is asked before any timer could run. */
  async blockLoop({ lease, ms }: { lease: number; ms: number }): Promise<{ held: boolean; aborted: boolean }> {
    const { signal } = leaseOf(lease);
    for (const end = now() + ms; now() < end;);
    const held = isHeld(leaseOf(lease));
    return { held, aborted: signal.aborted };
  },

  async read({ lease, ledgerPort, key, guarded }: LedgerOrder): Promise<number> {
    return (await ledger(ledgerPort).read(key, guarded ? leaseOf(lease).fence : undefined)).value;
  },

  /** Writes whatever `assertHeld` says, as a body does that forgets to ask: the guard has the last word. */
  async write({ lease, ledgerPort, key, guarded, value }: LedgerOrder & { value: number }): Promise<WriteReport> {
    const held = isHeld(leaseOf(lease));
    const { accepted } = await ledger(ledgerPort).write(key, value, guarded ? leaseOf(lease).fence : undefined);
    return { held, accepted };
  },

  async startWork(order: WorkOrder): Promise<void> {
    stopped = false;
    working = work(order);
    // Whoever asks for the report gets the failure.
    working.catch(() => undefined);
  },

  async stopWork(): Promise<WorkReport> {
    stopped = true;
    return working!;
  },

  /** Holds of the work under way that came to a good end, until now. */
  async progress(): Promise<number> {
    return entriesSoFar.filter(({ outcome }) => outcome === 'ok').length;
  },

  /** Ends by itself: for orders with a number of grants. */
  async finishWork(): Promise<WorkReport> {
    return working!;
  },

  async baseline(): Promise<Baseline> {
    const resources = getActiveResourcesInfo();
    const { holds, waiters, tidying } = connected.locks.stats();
    return {
      timers: resources.filter((name) => name === 'Timeout').length,
      sockets: resources.filter((name) => name === 'TCPSocketWrap').length,
      listeners: listeners(),
      holds,
      waiters,
      tidying,
    };
  },

  /** What is still open when the client has been closed: nothing may be. */
  async close(): Promise<string[]> {
    // Called in quiet: what was added to the user's client for a while has to be off it again.
    for (const deadline = now() + 2000; listeners() > listenersAtFirst && now() < deadline;) await sleep(20);
    const grown = listeners() - listenersAtFirst;
    await connected?.close();
    for (const each of ledgers.values()) each.close();
    ledgers.clear();
    leases.clear();
    let open: string[] = [];
    // ioredis gives its connections to sentinels 2 s to close, by a timer of its own.
    for (const deadline = now() + 4000; now() < deadline;) {
      open = getActiveResourcesInfo().filter((name) => name === 'Timeout' || name === 'TCPSocketWrap');
      if (open.length === 0) break;
      // Not a timer: it would count itself.
      for (let turns = 0; turns < 100; turns += 1) await new Promise(setImmediate);
    }
    return grown > 0 ? [...open, `${grown} listeners on the client`] : open;
  },
};

/** On the clients that the user made. */
function listeners(): number {
  return connected.clients
    .flatMap((client) => client.eventNames().map((name) => client.listenerCount(name)))
    .reduce((sum, count) => sum + count, 0);
}

interface LedgerOrder {
  lease: number;
  ledgerPort: number;
  key: string;
  guarded: boolean;
}

export type Verbs = typeof verbs;

function leaseOf(id: number): Lease {
  const lease = leases.get(id);
  if (!lease) throw new Error(`no lease ${id} in this process`);
  return lease;
}

function ledger(port: number): Ledger {
  let known = ledgers.get(port);
  if (!known) ledgers.set(port, (known = new Ledger(port)));
  return known;
}

function isHeld(lease: Lease): boolean {
  try {
    lease.assertHeld();
    return true;
  } catch {
    return false;
  }
}

async function work(order: WorkOrder): Promise<WorkReport> {
  const report: WorkReport = { entries: [], probes: [], refusals: {}, woken: 0, longestMs: 0 };
  entriesSoFar = report.entries;
  const wokenBefore = woken;
  const turns = turning(order);
  const { grants = Infinity } = order;
  let begun = 0;
  const call = async (key: string, entries: Entry[], holdMs?: number) => {
    await turns();
    const invokedAt = now();
    const before = entries.length;
    try {
      await oneHold({ ...order, holdMs }, key, invokedAt, entries, turns);
    } catch (error) {
      if (!(error instanceof LockError)) throw error;
      report.refusals[error.code] = (report.refusals[error.code] ?? 0) + 1;
      await sleep(order.pauseMs ?? 20);
    }
    report.longestMs = Math.max(report.longestMs, now() - invokedAt);
    // A grant that was lost has had its turn; a refusal has not.
    return entries.length > before;
  };
  const lane = async (key: string) => {
    while (!stopped && begun < grants) {
      begun += 1;
      if (!(await call(key, report.entries, order.holdMs))) begun -= 1;
    }
  };
  const probe = async () => {
    for (let count = 0; !stopped; count += 1) await call(`probe:${process.pid}:${count}`, report.probes, 10);
  };
  const lanes = order.keys.flatMap((key) => Array.from({ length: order.lanes }, () => lane(key)));
  await Promise.all(order.probe ? [...lanes, probe()] : lanes);
  report.woken = woken - wokenBefore;
  return report;
}

function turning({ turns }: WorkOrder): () => Promise<void> {
  if (!turns) return async () => undefined;
  const random = seeded(turns.seed + process.pid);
  return async () => {
    for (let left = Math.floor(random() * (turns.most + 1)); left > 0; left -= 1) await new Promise(setImmediate);
  };
}

async function oneHold(
  order: WorkOrder,
  key: string,
  invokedAt: number,
  entries: Entry[],
  turns: () => Promise<void>,
): Promise<void> {
  const { holdMs = 0, ledgerPort, options } = order;
  await connected.locks.withLock(
    key,
    async (lease) => {
      // The time is taken before the clock of the lease is asked: a process may be stopped between any two lines.
      const grantedAt = now();
      const believed = isHeld(lease);
      const { fence, token } = lease;
      const at = { process: process.pid, key, invokedAt, grantedAt, heldUntil: grantedAt, fence, token };
      const entry: Entry = { ...at, believed, outcome: believed ? 'unknown' : 'lost' };
      entries.push(entry);
      const stillHeld = () => {
        const askedAt = now();
        if (isHeld(lease)) entry.heldUntil = askedAt;
        else entry.outcome = 'lost';
        return entry.outcome !== 'lost';
      };
      if (!believed) return;
      const read = ledgerPort === undefined ? undefined : await ledger(ledgerPort).read(key, fence);
      if (read?.accepted === false) entry.outcome = 'stale';
      if (!stillHeld() || read?.accepted === false) return;
      await turns();
      if (holdMs > 0) await sleep(holdMs);
      if (!stillHeld()) return;
      if (ledgerPort !== undefined && read) {
        const { accepted } = await ledger(ledgerPort).write(key, read.value + 1, fence);
        if (!accepted) entry.outcome = 'stale';
      }
      if (entry.outcome === 'unknown') entry.outcome = 'ok';
      if (entry.outcome === 'ok') lease.settled();
    },
    options,
  );
}
