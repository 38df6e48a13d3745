// A made-up run, to look at the page and to test what is said of a run. It is no result and is never shown as one.
import type { BlockResult } from '../../load/block.js';
import { figuresOf } from '../../load/figures.js';
import { kneeOf } from '../../load/knee.js';
import { steps } from '../../load/lib/arrivals.js';
import type { Phase } from '../../load/lib/arrivals.js';
import type { ClientRecord } from '../../load/lib/client-log.js';
import { seeded } from '../../load/lib/random.js';
import { issueStrategies, scenarioNames, sizeOf, stockStrategies, strategiesOf } from '../../load/plan.js';
import type { BlockPlan, ScenarioName } from '../../load/plan.js';
import { sweepPlans, sweptHolds, sweptKeys } from '../../load/sweep.js';
import type { Results } from '../../load/report/results.js';

/** Milliseconds of service per request, in a queue of one. */
const serviceMs: Record<string, number> = {
  none: 0.9, atomic: 0.8, optimistic: 4, pessimistic: 1.4, advisory: 1.6, spin: 12, adaptive: 5, pubsub: 1.1, queue: 2.2, redlock: 7,
  batched: 0.15, unsorted: 3, sorted: 1.2, configured: 1,
}; // prettier-ignore
const shufflingMs: Record<string, number> = { spin: 900, adaptive: 400, redlock: 500, optimistic: 60, none: 30 };

interface Sale {
  scenario: ScenarioName;
  strategy: string;
  phases: Phase[];
  supply?: number;
  seed: number;
}

function clientLog({ scenario, strategy, phases, supply = Number.POSITIVE_INFINITY, seed }: Sale): ClientRecord[] {
  const random = seeded(seed);
  const service = (serviceMs[strategy] ?? 1) * (0.95 + random() * 0.1);
  const issues = strategiesOf(scenario).includes('batched');
  let free = 0;
  let sold = 0;
  const asked = phases.flatMap((phase) =>
    Array.from({ length: Math.round(phase.rate * phase.seconds) }, (_, n) => ({ phase, at: 1_800_000_000_000 + Math.round((phase.startSeconds + n / phase.rate) * 1000) })),
  ); // prettier-ignore
  const records = asked
    .toSorted((a, b) => a.at - b.at)
    .map(({ phase, at }, user): ClientRecord => {
      const instance = user % 2;
      if (phase.name.startsWith('probe')) {
        const ms = 2 + random() * (phase.name === 'probe-before' ? 2 : 3 + service * 6);
        return { phase: phase.name, request: 'probe', at, ms, user: '', instance, status: 200, code: '', outcome: 'acknowledged' };
      }
      const common = { phase: phase.name, request: issues ? 'issue' : scenario === 'pay-expire-race' ? 'pay' : 'order', at, user: `u${user}`, instance };
      const lot = random() * (shufflingMs[strategy] ?? 2);
      free = Math.max(free, at) + service * (0.5 + random());
      const ms = 1.5 + free - at + lot;
      if (ms > 10_000) return { ...common, ms: 10_000, status: 503, code: 'LOCK_TIMEOUT', outcome: 'contended' };
      const given = strategy === 'none' ? supply * 1.3 : supply;
      if (sold >= given) {
        const code = issues ? 'COUPON_SOLD_OUT' : 'OUT_OF_STOCK';
        return { ...common, ms: 1 + random() * 4 + (free - at) / 8, status: 409, code, outcome: 'refused' };
      }
      sold += 1;
      const db = Math.min(ms, service * 2);
      return { ...common, ms, status: 201, code: '', outcome: 'acknowledged', id: `c${user}`, ...(issues && { serial: sold }), lock: Math.max(0, ms - db - 2), hold: db * 1.2, db };
    }); // prettier-ignore
  // Served in the order in which they were through, which is not always that of their arrival.
  const through = records.filter(({ serial }) => serial !== undefined).toSorted((a, b) => a.at + a.ms - b.at - b.ms);
  for (const [place, record] of through.entries()) record.serial = place + 1;
  return records;
}

/** As a curve of one load would be. */
export function sampleSweep(plan: BlockPlan): BlockResult {
  const block = sampleBlock('capacity', plan.strategy, 1, 'curve');
  const phases = block.figures.phases.slice(0, 1).map((phase) => ({ ...phase, rate: plan.rates![0]! }));
  return { ...block, ...plan, clientLog: `${plan.id}.jsonl.gz`, figures: { ...block.figures, phases } };
}

const kneeRates = [50, 100, 200, 400, 800];

export function sampleBlock(
  scenario: ScenarioName,
  strategy: string,
  round: number,
  mode?: 'knee' | 'curve',
): BlockResult {
  const seed =
    round * 100 + issueStrategies.indexOf(strategy as never) * 7 + stockStrategies.indexOf(strategy as never);
  const size =
    scenario === 'capacity'
      ? { phases: steps(mode === 'knee' ? kneeRates : [20, 40, 60, 72, 96], 1, 6) }
      : sizeOf(scenario, 'smoke');
  const records = clientLog({ scenario, strategy, seed, ...size });
  const supply = 'supply' in size ? size.supply : undefined;
  const figures = figuresOf(records, size.phases, supply);
  const served = figures.outcomes.acknowledged - records.filter(({ request }) => request === 'probe').length;
  const weight = serviceMs[strategy] ?? 1;
  const name = mode ? `${scenario}-${mode}` : scenario;
  const id = `${name}.${strategy}.${String(round).padStart(2, '0')}`;
  return {
    id,
    scenario,
    ...(mode && { mode }),
    strategy,
    round,
    seed,
    verdict: strategy === 'none' && supply !== undefined ? 'oversold' : 'exact',
    reasons: [],
    startedAt: '2026-11-18T12:00:00.000Z',
    tookMs: 8000,
    offered: size.phases,
    ...(supply !== undefined && { supply, sold: served }),
    k6: { version: 'v1.8.1', exitCode: 0, arrived: records.length, dropped: 0 },
    quiet: true,
    figures,
    ...(mode === 'knee' && { knee: kneeOf(figures.phases, 1) }),
    cost: {
      redisCommands: ['atomic', 'none', 'pessimistic', 'optimistic', 'advisory'].includes(strategy)
        ? 0
        : Math.round(weight * 900),
      redisScripts: 0,
      transactions: strategy === 'batched' ? 60 : records.length,
      deadlocks: strategy === 'unsorted' ? 7 : 0,
      redisCpuSeconds: weight * 0.02,
      appCpuSeconds: 0.6 + weight * 0.05,
      postgresCpuSeconds: 0.2 + weight * 0.03,
      k6CpuSeconds: 1.1,
      safetyNetTrips: 0,
      ...(strategy === 'batched' && { meanBatch: 31 }),
      ...(strategy === 'optimistic' && { optimisticRetries: 412 }),
      peak: { postgresConnections: 22, redisConnections: 9 },
    },
    findings: [],
    clientLog: `${id}.jsonl.gz`,
  };
}

export function sampleRun(rounds = 5): Results {
  const blocks: BlockResult[] = [];
  for (const scenario of scenarioNames) {
    for (const strategy of strategiesOf(scenario)) {
      for (let round = 1; round <= rounds; round += 1) {
        if (scenario !== 'capacity') blocks.push(sampleBlock(scenario, strategy, round));
        else
          blocks.push(sampleBlock(scenario, strategy, round, 'knee'), sampleBlock(scenario, strategy, round, 'curve'));
      }
    }
  }
  const swept = { keys: sweptKeys, holds: sweptHolds };
  blocks.push(...sweepPlans(strategiesOf('capacity'), swept, { keys: 150, hold: 30 }, 7).map(sampleSweep));
  return {
    format: 'firstcome-load-1',
    profile: 'smoke',
    seed: 7,
    left: 0,
    blocks,
    environment: {
      date: '2026-11-18T12:00:00.000Z',
      commit: 'abc1234',
      uncommitted: 0,
      machine: { system: 'Linux 6.1', cpu: 'SAMPLE, not a machine', cores: 2, memoryGb: 24 },
      versions: { node: 'v20.20.2', k6: 'v1.8.1', k6From: 'k6 on the PATH', postgres: '15.14', redis: '7.0.15' },
      instances: { coupon: 2, order: 2 },
      settings: { postgres: { fsync: 'on' }, lock: { LOCK_WAIT_MS: '10000' } },
      command: 'npm run compare',
    },
  };
}
