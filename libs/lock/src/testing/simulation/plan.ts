import type { LockOptions, StrategyName } from '../../options.js';
import { Chance } from './chance.js';
import type { Fate, OnBreak } from './connection.js';

export type StoreKind = 'redis' | 'cluster' | 'redlock' | 'memory';

/** `calm`: nothing goes wrong but waits, aborts and late timers. `any`: whatever the seed says. */
export type Weather = 'calm' | 'any';

export interface OperationPlan {
  id: number;
  atMs: number;
  process: number;
  kind: 'withLock' | 'acquire' | 'try' | 'batch' | 'nested' | 'force' | 'close';
  keys: string[];
  options: LockOptions;
  workMs: number;
  /** Of a lease of its own: sets the time left half way. */
  extendMs?: number;
  abortAfterMs?: number;
  /** Says `settled` after its write. */
  settles?: boolean;
}

export type FaultPlan = { atMs: number; ms: number; process: number; host: number } & (
  | { kind: 'stop process' | 'kill process' | 'cut subscriber' | 'cut commands' | 'stop redis' | 'restart redis' }
  | { kind: 'wipe redis' | 'jump redis' }
  /** The replica that takes over knows what was there `lagMs` ago. */
  | { kind: 'fail over'; lagMs: number }
);

export interface Plan {
  seed: number;
  store: StoreKind;
  strategy: StrategyName;
  hosts: { rate: number }[];
  processes: { rate: number; onBreak: OnBreak }[];
  keys: string[];
  delayMs: [number, number];
  callTimeoutMs: number;
  handOver: { count: number; ms: number };
  batchSize: number;
  fates: Partial<Record<Fate, number>>;
  faultsUntilMs: number;
  operations: OperationPlan[];
  faults: FaultPlan[];
}

export interface PlanChoice {
  stores: readonly StoreKind[];
  strategies: readonly StrategyName[];
  weather: Weather;
}

/** Everything that will be done and that will go wrong, from one number. */
export function planOf(seed: number, choice: PlanChoice): Plan {
  const chance = new Chance(seed);
  const store = chance.pick(choice.stores);
  const calm = choice.weather === 'calm' || chance.happens(0.3);
  const count = { redis: 1, cluster: 3, redlock: chance.pick([3, 5]), memory: 0 }[store];
  const processes = Array.from({ length: chance.int(1, 4) }, () => ({
    rate: chance.real(0.996, 1.004),
    onBreak: chance.pick<OnBreak>(['resend', 'resend', 'reject', 'hang']),
  }));
  const keys = ['a', 'b', 'c'].slice(0, chance.pick([1, 1, 1, 2, 3]));
  const plan: Plan = {
    seed,
    store,
    strategy: chance.pick(choice.strategies.filter((name) => store !== 'redlock' || name !== 'queue')),
    hosts: Array.from({ length: count }, () => ({ rate: chance.real(0.998, 1.002) })),
    processes,
    keys,
    delayMs: chance.pick<[number, number]>([
      [0.05, 0.3],
      [0.2, 3],
      [1, 20],
    ]),
    callTimeoutMs: chance.pick([100, 500, 1500]),
    handOver: { count: chance.pick([1, 2, 5, 64]), ms: chance.pick([1, 50, 250, 5000]) },
    batchSize: chance.pick([1, 3, 200]),
    fates: {},
    faultsUntilMs: 0,
    operations: [],
    faults: [],
  };
  plan.operations = operationsOf(plan, chance.fork());
  if (!calm && store !== 'memory') addFaults(plan, chance.fork());
  return plan;
}

function operationsOf(plan: Plan, chance: Chance): OperationPlan[] {
  // A long TTL beside a long recheck: then nothing but the wake-up itself saves a waiter.
  const patient = chance.happens(0.4);
  const usual: LockOptions = {
    // Redlock refuses a TTL above 30 s.
    ttlMs: patient ? 30_000 : chance.pick([300, 1000, 5000]),
    recheckMs: patient ? 30_000 : chance.pick([50, 300, 1000]),
    waitMs: chance.pick([60, 800, 5000, 20_000]),
    strategy: plan.strategy,
    autoRenew: chance.happens(0.8),
    localLine: chance.happens(0.75),
  };
  const spanMs = chance.pick([1, 50, 1000, 4000]);
  // Fixed leases that nearly run out: what is left of one may be too little for the next.
  const tight = !usual.autoRenew && chance.happens(0.4);
  const workMs = tight ? (usual.ttlMs ?? 0) * 0.3 : chance.pick([0, 2, 20, 150]);
  return Array.from({ length: chance.int(3, 24) }, (_, id) => operationOf(id, plan, usual, spanMs, workMs, chance));
}

const kinds: [OperationPlan['kind'], number][] = [
  ['withLock', 40],
  ['acquire', 25],
  ['try', 12],
  ['batch', 16],
  ['nested', 4],
  ['force', 1],
  ['close', 2],
];

function operationOf(
  id: number,
  plan: Plan,
  usual: LockOptions,
  spanMs: number,
  workMs: number,
  chance: Chance,
): OperationPlan {
  const kind = weighted(kinds, chance);
  const options = { ...usual };
  const planned: OperationPlan = {
    id,
    atMs: chance.real(0, spanMs),
    process: chance.int(0, plan.processes.length - 1),
    kind,
    keys: [chance.pick(plan.keys)],
    options,
    workMs: chance.happens(0.3) ? 0 : chance.real(0, 2 * workMs),
    settles: chance.happens(0.3),
  };
  if (chance.happens(0.15)) options.waitMs = chance.pick([0, 10, 200]);
  if (chance.happens(0.1)) options.ttlMs = chance.pick([200, 2000]);
  if (chance.happens(0.1)) options.autoRenew = !options.autoRenew;
  if (chance.happens(0.05)) options.maxWaiters = chance.int(1, 3);
  if (chance.happens(0.1)) options.localLine = !options.localLine;
  if (chance.happens(0.15)) options.priority = chance.int(1, 10);
  if (chance.happens(0.12)) planned.abortAfterMs = chance.real(0, chance.pick([2, 100, 1000]));
  // A job of several TTLs: kept by the watchdog, or lost without it.
  if (chance.happens(0.06)) planned.workMs = (options.ttlMs ?? 0) * chance.real(0.7, 3);
  if (kind === 'acquire' && chance.happens(0.2)) planned.extendMs = chance.int(50, 8000);
  if (kind === 'nested') options.reentrant = true;
  if (kind === 'batch') {
    // One turn works for many: they all ask for the same.
    Object.assign(planned, {
      options: { ...usual, waitMs: Math.max(10, options.waitMs ?? 0) },
      workMs: Math.min(planned.workMs, 150),
    });
  }
  if ((kind === 'withLock' || kind === 'acquire' || kind === 'try') && plan.keys.length > 1 && chance.happens(0.3)) {
    // In any order: sorting is the library's.
    planned.keys = plan.keys.toSorted(() => chance.next() - 0.5).slice(0, 2);
    if (options.strategy === 'queue') options.strategy = 'pubsub';
  }
  if (kind === 'close') planned.atMs = chance.real(0, 3 * spanMs);
  return planned;
}

function addFaults(plan: Plan, chance: Chance): void {
  const last = Math.max(...plan.operations.map(({ atMs }) => atMs));
  plan.faultsUntilMs = last + chance.pick([50, 500, 3000]);
  for (const fate of ['request lost', 'reply lost', 'twice', 'slow', 'slow reply', 'astray'] as const) {
    if (chance.happens(0.35)) plan.fates[fate] = chance.pick([0.01, 0.05, 0.2]);
  }
  const faultKinds: FaultPlan['kind'][] = [
    'stop process',
    'kill process',
    'cut subscriber',
    'cut commands',
    'stop redis',
    'restart redis',
    'wipe redis',
    'jump redis',
    'fail over',
  ];
  const chosen = faultKinds.filter(() => chance.happens(0.25));
  // A memory that is gone beside a clock that was set back is more than fences promise to survive.
  const forgets = chosen.some((kind) => kind === 'wipe redis' || kind === 'restart redis' || kind === 'fail over');
  for (const kind of chosen) {
    for (let times = chance.int(1, 3); times > 0; times -= 1) {
      const atMs = chance.real(0, plan.faultsUntilMs);
      const ms = chance.pick([chance.real(1, 60), chance.real(50, 900), chance.real(500, 7000)]);
      const place = {
        atMs,
        process: chance.int(0, plan.processes.length - 1),
        host: chance.int(0, plan.hosts.length - 1),
      };
      // Redlock's nodes have no replicas.
      if (kind === 'fail over' && plan.store !== 'redlock')
        plan.faults.push({ ...place, kind, ms: Math.min(ms, 3000), lagMs: chance.real(0.1, 300) });
      else if (kind === 'fail over') continue;
      else if (kind === 'jump redis') {
        plan.faults.push({ ...place, kind, ms: forgets || chance.happens(0.5) ? ms : -ms });
      } else plan.faults.push({ ...place, kind, ms: kind === 'restart redis' ? Math.min(ms, 3000) : ms });
    }
  }
}

function weighted<T>(list: readonly [T, number][], chance: Chance): T {
  let left = chance.real(
    0,
    list.reduce((sum, [, weight]) => sum + weight, 0),
  );
  for (const [value, weight] of list) {
    left -= weight;
    if (left < 0) return value;
  }
  return list[0]![0];
}
