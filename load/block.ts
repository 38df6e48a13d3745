// One block: reset, warm up, measure with k6, wait for quiet, verify, figure. Everything it says is in its raw files.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { climb } from './climb.js';
import type { RunPhases } from './climb.js';
import { costOf } from './cost.js';
import type { Cost } from './cost.js';
import { figuresOf } from './figures.js';
import type { Figures } from './figures.js';
import { holdFor, noHold } from './hold.js';
import { runK6 } from './k6.js';
import type { K6 } from './k6.js';
import { arrivalsOf, eased, inSequence, usersOf } from './lib/arrivals.js';
import type { Phase } from './lib/arrivals.js';
import { parseClientLog } from './lib/client-log.js';
import type { ClientRecord } from './lib/client-log.js';
import type { K6Input } from './lib/k6-input.js';
import { countersAfter, countersBefore, resetRedisCounters, untilQuiet, watchConnections } from './measure.js';
import { kneeOf } from './knee.js';
import type { Knee } from './knee.js';
import { kindOf, profiles, sizeOf } from './plan.js';
import type { BlockPlan, ProfileName, Size } from './plan.js';
import { prepare } from './preparation/prepare.js';
import { LoadError, say } from './progress.js';
import type { Stores } from './stores.js';
import type { System } from './system.js';
import { errorsOf, judge } from './verdict.js';
import type { Judgement } from './verdict.js';
import { checkInvariants } from './verify.js';

export interface Bench {
  system: System;
  stores: Stores;
  k6: K6;
  profile: ProfileName;
  /** Unique per run: no two runs share a user or a key. */
  runId: string;
  /** Of the code that measures. */
  commit?: string;
  /** Where raw files go. */
  folder: string;
}

export interface BlockResult extends BlockPlan, Judgement {
  /** Of the code that measured it; a run can have several sittings. */
  commit?: string;
  /** What became of it before it was measured again: it had shown nothing. */
  earlier?: Judgement[];
  startedAt: string;
  tookMs: number;
  offered: Phase[];
  supply?: number;
  sold?: number;
  k6: { version: string; exitCode: number; arrived?: number; dropped?: number };
  quiet: boolean;
  figures: Figures;
  knee?: Knee;
  cost: Cost;
  findings: unknown[];
  /** The client log, beside this file. */
  clientLog: string;
}

const maxWaiting = 5000;

/** `ease` 0.5 offers half of the planned load, and half of the supply; a block that is tried again has users and keys of its own. */
export async function runBlock(
  bench: Bench,
  plan: BlockPlan,
  ease = 1,
  attempt = 1,
  earlier: Judgement[] = [],
): Promise<BlockResult> {
  const startedAt = new Date();
  const began = performance.now();
  const size = easedSize(plannedSize(plan, bench.profile), ease);
  const dropsAllowed = plan.mode === 'knee';
  const work = join(bench.folder, `work-${plan.id}`);
  mkdirSync(work, { recursive: true });
  try {
    await noHold(bench.stores);
    const warmUp = inSequence([{ name: 'burst', ...size.warmUp }]);
    const warm = await set(bench, plan, attempt, warmUp, undefined, join(work, 'warm-up'));
    const block = await set(bench, plan, attempt, size.phases, size.supply, work);
    await Promise.all([bench.stores.coupon.query('vacuum analyze'), bench.stores.order.query('vacuum analyze')]);
    // What it misses nobody counts: no time to catch up is needed.
    const warmed = await warm.run(warmUp, true);
    if (warmed.arrived === undefined)
      throw new LoadError(`k6 ended with ${warmed.exitCode}: ${warmed.output.slice(-2000)}`);
    await untilQuiet(bench.stores);
    await resetRedisCounters(bench.stores);
    if (plan.sweep?.holdMs) await holdFor(bench.stores, plan.sweep.holdMs);
    const before = await countersBefore(bench.system, bench.stores);
    const watch = watchConnections(bench.stores);
    const { run, phases } =
      plan.mode === 'knee' ? await climb(bench.profile, block.run) : await once(block.run, size.phases);
    const peak = await watch.stop();
    await noHold(bench.stores);
    const quiet = await untilQuiet(bench.stores);
    const after = await countersAfter(bench.system, bench.stores);
    if (run.arrived === undefined) say(`k6 ended with ${run.exitCode}: ${run.output.slice(-2000)}`);
    const records = parseClientLog(run.clientLog);
    const proof = await block.prepared.prove(records);
    const findings = [...proof.findings, ...(await checkInvariants(bench.stores))];
    if (!quiet)
      findings.push({
        law: 'I11',
        text: 'no quiet within 20 s: something still holds or waits',
        count: 1,
        examples: [],
      });
    const figures = figuresOf(records, phases, size.supply);
    const planned = phases.reduce((total, phase) => total + arrivalsOf(phase), 0);
    const cost = costOf(before, after, run, peak);
    const judgement = judge({
      scenario: plan.scenario,
      strategy: plan.strategy,
      k6: { ...run, planned },
      requestsPerArrival: block.prepared.requestsPerArrival,
      dropsAllowed,
      figures,
      findings,
      ...(size.supply !== undefined && { supply: size.supply }),
      ...(size.supply !== undefined && proof.sold !== undefined && { sold: proof.sold }),
      deadlocks: cost.deadlocks,
      ...errorsOf(records),
    });
    const { exitCode, arrived } = run;
    return keep(bench.folder, records, {
      ...plan,
      ...judgement,
      ...(bench.commit !== undefined && { commit: bench.commit }),
      ...(earlier.length > 0 && { earlier }),
      startedAt: startedAt.toISOString(),
      tookMs: Math.round(performance.now() - began),
      offered: phases,
      ...(size.supply !== undefined && { supply: size.supply }),
      ...(proof.sold !== undefined && { sold: proof.sold }),
      k6: {
        version: bench.k6.version,
        exitCode,
        ...(arrived !== undefined && { arrived, dropped: Math.max(0, planned - arrived) }),
      },
      quiet,
      figures,
      ...(plan.mode === 'knee' && { knee: kneeOf(figures.phases, profiles[bench.profile].knee.seconds) }),
      cost,
      findings,
      clientLog: `${plan.id}.jsonl.gz`,
    });
  } finally {
    await noHold(bench.stores).catch(() => {}); // the next block tries again
    rmSync(work, { recursive: true, force: true });
  }
}

/** The search for the knee has no phases yet, and nothing that could sell out before it is found. */
function plannedSize({ scenario, mode, rates, loads }: BlockPlan, profile: ProfileName): Size {
  const { phases, supply, warmUp } = sizeOf(scenario, profile, rates, loads);
  return mode === 'knee' ? { phases: [], warmUp } : { phases, ...(supply !== undefined && { supply }), warmUp };
}

function easedSize(size: Size, ease: number): Size {
  if (ease === 1) return size;
  const { phases, supply, warmUp } = size;
  return {
    phases: eased(phases, ease),
    ...(supply !== undefined && { supply: Math.max(1, Math.round(supply * ease)) }),
    warmUp,
  };
}

async function once(run: RunPhases, phases: Phase[]) {
  return { run: await run(phases, false), phases };
}

/** The prepared side of one k6 run. */
async function set(
  bench: Bench,
  plan: BlockPlan,
  attempt: number,
  phases: Phase[],
  supply: number | undefined,
  folder: string,
) {
  mkdirSync(folder, { recursive: true });
  const isWarmUp = folder.endsWith('warm-up');
  // Neither may be the beginning of the other: rows are found by it.
  const userPrefix = `${bench.runId}-${isWarmUp ? 'warm' : 'run'}-${plan.id}-${attempt}-`;
  const scenario = isWarmUp && plan.scenario === 'bleed' ? 'coupon-flash' : plan.scenario;
  const { system, stores } = bench;
  const prepared = await prepare(scenario, { system, stores, strategy: plan.strategy, phases, keys: plan.sweep?.keys ?? 1, ...(supply !== undefined && { supply }), userPrefix, folder }); // prettier-ignore
  const tokensFile = join(folder, 'tokens.txt');
  const run: RunPhases = async (wanted, dropsAllowed) => {
    const tokens = Array.from({ length: usersOf(wanted) }, (_, user) => system.tokenFor(`${userPrefix}${user}`));
    writeFileSync(tokensFile, tokens.join('\n'));
    const input: K6Input = {
      phases: wanted,
      maxWaiting,
      dropsAllowed,
      urls: system[prepared.app],
      tokensFile,
      userPrefix,
      ...strategyHeader(plan),
      summaryFile: join(folder, 'summary.json'),
      seed: plan.seed,
      ...prepared.input,
      ...(await prepared.restart?.()),
    };
    const file = join(folder, 'input.json');
    // k6 appends to a log that is there.
    const logFile = join(folder, 'client.jsonl');
    for (const old of [input.summaryFile, logFile]) rmSync(old, { force: true });
    writeFileSync(file, JSON.stringify(input));
    return runK6(bench.k6, scenario, { file, summaryFile: input.summaryFile, logFile });
  };
  return { prepared, run };
}

function strategyHeader({ scenario, strategy }: BlockPlan): Pick<K6Input, 'strategyHeader'> {
  const kind = kindOf(scenario);
  if (kind === 'configured') return {};
  return { strategyHeader: { name: kind === 'issue' ? 'X-Issue-Strategy' : 'X-Stock-Strategy', value: strategy } };
}

/** The figures and what they were figured from, side by side. */
function keep(folder: string, records: readonly ClientRecord[], result: BlockResult): BlockResult {
  writeFileSync(
    join(folder, result.clientLog),
    gzipSync(records.map((record) => JSON.stringify(record)).join('\n'), { level: 9 }),
  );
  // Last, and renamed into place: a block without this file was not finished and is run again.
  const file = join(folder, `${result.id}.json`);
  writeFileSync(`${file}.part`, `${JSON.stringify(result, null, 1)}\n`);
  renameSync(`${file}.part`, file);
  return result;
}
