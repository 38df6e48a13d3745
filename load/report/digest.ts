// From blocks to what may be said of each strategy: medians over the rounds with their intervals, and paired differences.
// Only blocks whose measurement was good are figured; what was right or wrong is told of all. Pure.
import type { BlockResult } from '../block.js';
import { arrivalsOf } from '../lib/arrivals.js';
import { kindOf, scenarioNames, strategiesOf } from '../plan.js';
import type { ScenarioName } from '../plan.js';
import { compare, medianInterval } from '../statistics.js';
import type { Comparison, Distribution, Interval } from '../statistics.js';
import { worstOf } from '../summary.js';
import type { Verdict } from '../verdict.js';

/** What one strategy did in one scenario. Absent is "not measured", never 0. */
export interface StrategyDigest {
  scenario: ScenarioName;
  strategy: string;
  rounds: number;
  verdict: Verdict;
  reasons: string[];
  /** Of the last round: given of what there was. */
  sold?: number;
  supply?: number;
  soldOutMs?: Interval;
  /** From the opening of the doors until as many had come as there was supply: nobody can sell out before. */
  crowdMs?: number;
  goodput?: Interval;
  servedP50?: Interval;
  servedP99?: Interval;
  refusedP99?: Interval;
  /** Requests that were told to come back, per round. */
  contended?: Interval;
  inversions?: Interval;
  inversionsWithinInstance?: Interval;
  perThousand?: {
    redisCommands?: Interval;
    /** Calls of a script: one way there and back each, however many commands run inside. */
    redisScripts?: Interval;
    transactions?: Interval;
    appCpu?: Interval;
    postgresCpu?: Interval;
    redisCpu?: Interval;
  };
  /** Mean milliseconds of a served request. */
  parts?: { lock: number; hold: number; db: number; total: number };
  trips: number;
  deadlocks: number;
  retries?: number;
  meanBatch?: number;
  connections?: { postgres: number; redis: number };
  k6CpuShare?: number;
  probe?: { before?: Interval; during?: Interval; reads: { before: number; during: number }; errors: number };
  /** Of the first round, for the curves. */
  curves: { answer: string; distribution: Distribution }[];
  fairness: { arrived: number; serial: number }[];
  blocks: string[];
}

export interface LoadPoint {
  rate: number;
  p50?: Interval;
  p99?: Interval;
  /** Share of the requests that were served. */
  served: number;
  rounds: number;
}

export interface CapacityDigest {
  strategy: string;
  knee?: Interval;
  climbs: number;
  why?: string;
  /** On the way up to the knee: one climb per round. */
  climb: LoadPoint[];
  /** At the same loads for all. */
  curve: LoadPoint[];
  verdict: Verdict;
  reasons: string[];
  blocks: string[];
}

export interface Digest {
  scenarios: Partial<Record<ScenarioName, StrategyDigest[]>>;
  capacity: CapacityDigest[];
  /** Against the plain statement: time to sell out, where both sold out. Positive is slower. */
  againstAtomic: Against[];
  againstSorted: Against[];
  /** The strategy that sold out first by its median, and every other one against it. */
  againstFirst?: { first: string; others: Against[] };
}

export interface Against {
  strategy: string;
  comparison?: Comparison;
  /** Why there is none. */
  why?: 'not sold out' | 'no common round';
}

/** The sale itself, which most of the page is about. */
export const flashOf = ({ scenarios }: Digest): StrategyDigest[] => scenarios['coupon-flash'] ?? [];

const good = ({ verdict }: BlockResult) => verdict !== 'refused';

const requestOf = (scenario: ScenarioName) =>
  scenario === 'pay-expire-race' ? 'pay' : kindOf(scenario) === 'issue' ? 'issue' : 'order';
const refusalOf = (scenario: ScenarioName) => (kindOf(scenario) === 'issue' ? 'COUPON_SOLD_OUT' : 'OUT_OF_STOCK');

const known = new WeakMap<readonly BlockResult[], Digest>();

/** Of one run it is figured once, however many documents ask: resampling takes its time. */
export function digest(blocks: readonly BlockResult[]): Digest {
  const found = known.get(blocks) ?? digestAll(blocks);
  known.set(blocks, found);
  return found;
}

function digestAll(blocks: readonly BlockResult[]): Digest {
  const scenarios: Digest['scenarios'] = {};
  for (const scenario of scenarioNames) {
    if (scenario === 'capacity') continue;
    const own = blocks.filter((block) => block.scenario === scenario && !block.mode);
    const strategies = strategiesOf(scenario).filter((strategy) => own.some((block) => block.strategy === strategy));
    if (strategies.length > 0) {
      scenarios[scenario] = strategies.map((strategy) =>
        digestOf(
          scenario,
          strategy,
          own.filter((block) => block.strategy === strategy),
        ),
      );
    }
  }
  const against = (scenario: ScenarioName, baseline: string, figure: (block: BlockResult) => number | undefined) =>
    (scenarios[scenario] ?? [])
      .filter(({ strategy }) => strategy !== baseline && strategy !== 'none')
      .map(({ strategy }): Against => ({ strategy, ...comparisonOf(blocks, scenario, strategy, baseline, figure) }));
  const soldOut = ({ figures }: BlockResult) => figures.soldOutMs;
  const first = firstToSell(scenarios['coupon-flash'] ?? []);
  return {
    scenarios,
    capacity: capacityOf(blocks),
    againstAtomic: against('coupon-flash', 'atomic', soldOut),
    ...(first && { againstFirst: { first, others: against('coupon-flash', first, soldOut) } }),
    againstSorted: against('order-multi-item', 'sorted', ({ figures }) => figures.latency['order: acknowledged']?.p99),
  };
}

function firstToSell(flash: readonly StrategyDigest[]): string | undefined {
  const sold = flash.filter(({ strategy, soldOutMs }) => strategy !== 'none' && soldOutMs);
  return sold.toSorted((a, b) => a.soldOutMs!.mid - b.soldOutMs!.mid)[0]?.strategy;
}

/** Pairs of one round: what a slow minute of the machine did to both is no difference. */
function comparisonOf(
  blocks: readonly BlockResult[],
  scenario: ScenarioName,
  strategy: string,
  baseline: string,
  figure: (block: BlockResult) => number | undefined,
): Omit<Against, 'strategy'> {
  const own = blocks.filter((block) => block.scenario === scenario && !block.mode && good(block));
  const rounds = [...new Set(own.map(({ round }) => round))];
  const of = (name: string) =>
    rounds.map((round) => {
      const block = own.find((one) => one.strategy === name && one.round === round);
      return block && figure(block);
    });
  const comparison = compare(of(strategy), of(baseline));
  if (comparison) return { comparison };
  return { why: of(strategy).some((value) => value !== undefined) ? 'no common round' : 'not sold out' };
}

function digestOf(scenario: ScenarioName, strategy: string, all: readonly BlockResult[]): StrategyDigest {
  const blocks = all.filter(good);
  const last = blocks.at(-1) ?? all.at(-1);
  const interval = (figure: (block: BlockResult) => number | undefined) =>
    medianInterval(blocks.map(figure).filter((value) => value !== undefined));
  const served = `${requestOf(scenario)}: acknowledged`;
  const refused = `${requestOf(scenario)}: ${refusalOf(scenario)}`;
  const thousands = (figure: (block: BlockResult) => number | undefined) =>
    interval((block) => {
      const value = figure(block);
      const count = block.figures.latency[served]?.count ?? 0;
      return value === undefined || count === 0 ? undefined : (value / count) * 1000;
    });
  const first = blocks.find(({ figures }) => Object.keys(figures.latency).length > 0);
  return {
    scenario,
    strategy,
    rounds: blocks.length,
    verdict: worstOf(all)!,
    reasons: [...new Set(all.flatMap(({ reasons }) => reasons))].slice(0, 5),
    ...optional({
      sold: last?.sold,
      supply: last?.supply,
      soldOutMs: interval(({ figures }) => figures.soldOutMs),
      crowdMs: last && crowdMs(last),
      goodput: interval(({ figures }) => figures.goodput),
      servedP50: interval(({ figures }) => figures.latency[served]?.p50),
      servedP99: interval(({ figures }) => figures.latency[served]?.p99),
      refusedP99: interval(({ figures }) => figures.latency[refused]?.p99),
      contended: interval(({ figures }) => figures.outcomes.contended),
      inversions: interval(({ figures }) => figures.fairness?.inversions),
      inversionsWithinInstance: interval(({ figures }) => figures.fairness?.inversionsWithinInstance),
      perThousand: optional({
        redisCommands: thousands(({ cost }) => ofItsRedis(strategy, cost, cost.redisCommands)),
        redisScripts: thousands(({ cost }) => ofItsRedis(strategy, cost, cost.redisScripts)),
        transactions: thousands(({ cost }) => cost.transactions),
        appCpu: thousands(({ cost }) => cost.appCpuSeconds),
        postgresCpu: thousands(({ cost }) => cost.postgresCpuSeconds),
        redisCpu: thousands(({ cost }) => ofItsRedis(strategy, cost, cost.redisCpuSeconds)),
      }),
      parts: partsOf(blocks, served),
      retries: sumIfAny(blocks.map(({ cost }) => cost.optimisticRetries)),
      meanBatch: interval(({ cost }) => cost.meanBatch)?.mid,
      connections: connectionsOf(blocks),
      k6CpuShare: interval(
        ({ cost, offered }) => cost.k6CpuSeconds && cost.k6CpuSeconds / Math.max(1, secondsOf(offered)),
      )?.mid,
      probe: scenario === 'bleed' ? probeOf(blocks) : undefined,
    }),
    trips: blocks.reduce((sum, { cost }) => sum + (cost.safetyNetTrips ?? 0), 0),
    deadlocks: blocks.reduce((sum, { cost }) => sum + cost.deadlocks, 0),
    curves: Object.entries(first?.figures.latency ?? {}).map(([answer, distribution]) => ({ answer, distribution })),
    fairness: blocks.find(({ figures }) => figures.fairness?.sample.length)?.figures.fairness?.sample ?? [],
    blocks: all.map(({ id }) => id),
  };
}

/** The locks of redlock are in servers of their own: where these were not counted, what the other one did is not its cost. */
const ofItsRedis = (strategy: string, { redisServers }: BlockResult['cost'], value: number) =>
  strategy === 'redlock' && redisServers === undefined ? undefined : value;

/** In the order of arrival as planned: the steady market first, then the crowd. */
function crowdMs({ offered, supply }: BlockResult): number | undefined {
  const burst = offered.find(({ name }) => name === 'burst');
  if (supply === undefined || !burst) return undefined;
  const before = offered.filter(({ name }) => name === 'steady').reduce((sum, phase) => sum + arrivalsOf(phase), 0);
  return Math.max(0, ((supply - before) / burst.rate) * 1000);
}

const secondsOf = (offered: BlockResult['offered']) => offered.reduce((sum, { seconds }) => sum + seconds, 0);

/** Without the fields that are undefined. */
function optional<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function sumIfAny(values: (number | undefined)[]): number | undefined {
  const figures = values.filter((value) => value !== undefined);
  return figures.length === 0 ? undefined : figures.reduce((sum, value) => sum + value, 0);
}

function partsOf(blocks: readonly BlockResult[], served: string): StrategyDigest['parts'] {
  const timed = blocks.flatMap(({ figures }) => {
    const total = figures.latency[served];
    return figures.serverTiming && total ? [{ ...figures.serverTiming, total }] : [];
  });
  if (timed.length === 0) return undefined;
  const mean = (part: 'lock' | 'hold' | 'db' | 'total') =>
    timed.reduce((sum, one) => sum + one[part].mean, 0) / timed.length;
  return { lock: mean('lock'), hold: mean('hold'), db: mean('db'), total: mean('total') };
}

function connectionsOf(blocks: readonly BlockResult[]): StrategyDigest['connections'] {
  if (blocks.length === 0) return undefined;
  const most = (figure: (block: BlockResult) => number) => Math.max(...blocks.map(figure));
  return {
    postgres: most(({ cost }) => cost.peak.postgresConnections),
    redis: most(({ cost }) => cost.peak.redisConnections),
  };
}

function probeOf(blocks: readonly BlockResult[]): StrategyDigest['probe'] {
  const p99 = (phase: string) =>
    medianInterval(blocks.flatMap(({ figures }) => figures.phases.find(({ name }) => name === phase)?.p99 ?? []));
  const reads = (phase: string) => blocks[0]?.figures.phases.find(({ name }) => name === phase)?.requests ?? 0;
  const errors = blocks.flatMap(({ figures }) =>
    Object.entries(figures.answers).filter(([name]) => name.startsWith('probe: ') && name !== 'probe: acknowledged'),
  );
  return {
    ...optional({ before: p99('probe-before'), during: p99('probe-during') }),
    reads: { before: reads('probe-before'), during: reads('probe-during') },
    errors: errors.reduce((sum, [, count]) => sum + count, 0),
  };
}

function capacityOf(blocks: readonly BlockResult[]): CapacityDigest[] {
  const own = blocks.filter(({ scenario, mode }) => scenario === 'capacity' && mode !== 'sweep');
  return strategiesOf('capacity')
    .filter((strategy) => own.some((block) => block.strategy === strategy))
    .map((strategy) => {
      const all = own.filter((block) => block.strategy === strategy);
      const usable = all.filter(good);
      const climbs = usable.filter(({ mode }) => mode === 'knee');
      const knee = medianInterval(climbs.flatMap((block) => block.knee?.rate ?? []));
      const why = climbs.at(-1)?.knee?.why;
      return {
        strategy,
        ...(knee && { knee }),
        climbs: climbs.length,
        ...(why !== undefined && { why }),
        climb: pointsOf(climbs),
        curve: pointsOf(usable.filter(({ mode }) => mode === 'curve')),
        verdict: worstOf(all)!,
        reasons: [...new Set(all.flatMap(({ reasons }) => reasons))].slice(0, 5),
        blocks: all.map(({ id }) => id),
      };
    });
}

function pointsOf(blocks: readonly BlockResult[]): LoadPoint[] {
  const phases = blocks.flatMap(({ figures }) => figures.phases);
  const rates = [...new Set(phases.map(({ rate }) => rate))].toSorted((a, b) => a - b);
  return rates.map((rate) => {
    const same = phases.filter((phase) => phase.rate === rate);
    const requests = same.reduce((sum, phase) => sum + phase.requests, 0);
    return {
      rate,
      ...optional({
        p50: medianInterval(same.flatMap(({ p50 }) => p50 ?? [])),
        p99: medianInterval(same.flatMap(({ p99 }) => p99 ?? [])),
      }),
      served: requests === 0 ? 0 : same.reduce((sum, phase) => sum + phase.acknowledged, 0) / requests,
      rounds: same.length,
    };
  });
}
