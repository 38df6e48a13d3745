// npm run compare -- [--profile standard] [--minutes 25] [--seed n] [--into folder | --resume folder]: every strategy in every
// scenario, into load/results/<date>-<commit>/. Round by round: when the time is up, every strategy has been measured equally
// often.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ofItsOwn, runBackoffs } from './backoff.js';
import { runMain, withBench } from './bench.js';
import type { Bench, BlockResult } from './block.js';
import { curveRates, loadsOf, profileNames, profiles, roundOf, scenarioNames, strategiesOf } from './plan.js';
import type { BlockPlan, Loads, ProfileName, ScenarioName } from './plan.js';
import { duration, LoadError, print, say } from './progress.js';
import { writeReport } from './report/write.js';
import { finishedOf, offered, runBlocks } from './runner.js';
import { countedSittings, openRun, sitDown } from './sittings.js';
import type { Run } from './sittings.js';
import { fewestPairs } from './statistics.js';
import { summaryTable } from './summary.js';
import { sweepPlans, sweepTable, sweptBackoffs, sweptHolds, sweptKeys } from './sweep.js';
import { whyNoneOfOnesOwn } from './system.js';
import { exitCodeOf, isRed } from './verdict.js';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Wanted {
  profile?: ProfileName;
  minutes?: number;
  seed?: number;
  folder: string;
  resume: boolean;
  scenarios: ScenarioName[];
}

function readArguments(args: string[], commit: string): Wanted {
  const text = { type: 'string' } as const;
  const options = { profile: text, minutes: text, seed: text, into: text, resume: text, scenarios: text };
  let values;
  try {
    ({ values } = parseArgs({ args, options }));
  } catch (error) {
    throw new LoadError((error as Error).message);
  }
  const profile = profileNames.find((name) => name === values.profile);
  if (values.profile !== undefined && !profile) throw new LoadError(`--profile is one of ${profileNames.join(', ')}`);
  const number = (name: 'minutes' | 'seed') => {
    const value = values[name] === undefined ? undefined : Number(values[name]);
    if (value !== undefined && !(value >= 0)) throw new LoadError(`--${name} is a number`);
    return value;
  };
  const [minutes, seed] = [number('minutes'), number('seed')];
  const asked = values.scenarios?.split(',');
  const scenarios = scenarioNames.filter((name) => !asked || asked.includes(name));
  if (asked && scenarios.length !== asked.length)
    throw new LoadError(`--scenarios takes of ${scenarioNames.join(', ')}`);
  if (values.into !== undefined && values.resume !== undefined) throw new LoadError('--into or --resume: one of them');
  const folder =
    values.resume ?? values.into ?? join('load', 'results', `${new Date().toISOString().slice(0, 10)}-${commit}`);
  return {
    ...(profile && { profile }),
    ...(minutes !== undefined && { minutes }),
    ...(seed !== undefined && { seed }),
    folder: resolve(root, folder),
    resume: values.resume !== undefined,
    scenarios,
  };
}

/** One round of these is enough: they are a question of right or wrong. */
const onceOnly: readonly ScenarioName[] = ['pay-expire-race', 'coupon-duplicate'];
const manyRounds: readonly ScenarioName[] = ['order-multi-item', 'bleed', 'order-hot-option', 'order-mixed'];

async function main(): Promise<number> {
  const { spawnSync } = await import('node:child_process');
  const commit =
    spawnSync('git', ['rev-parse', '--short=7', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout?.trim() || 'unknown';
  const args = process.argv.slice(2);
  const wanted = readArguments(args, commit);
  const { folder, minutes, scenarios } = wanted;
  const run = openRun(wanted);
  const { profile, seed } = run;
  // It is published: where the repository lies is nobody's business.
  const given = args.map((one) => one.replace(root, ''));
  const command = ['npm run compare', ...(given.length > 0 ? ['--', ...given] : [])].join(' ');
  const deadline = minutes === undefined ? undefined : performance.now() + minutes * 60_000;
  const first = await withBench({ profile, folder, command }, async (bench, now) => {
    const sat = sitDown(run, now);
    say(
      `Comparison, profile ${profile}, seed ${seed}, into ${folder}${minutes === undefined ? '' : `, at most ${minutes} minutes`}`,
    );
    return { sat, ...(await compareAll(bench, run, scenarios, deadline)) };
  });
  const no = whyNoneOfOnesOwn();
  if (no) say(`The sweep of back-off is left out: ${no}`);
  const rest = no
    ? finishedOf(join(folder, 'raw'), first.elsewhere)
    : await runBackoffs({ profile, folder, command }, first.elsewhere, deadline);
  const blocks = [...first.results, ...rest.results];
  const left = first.left + rest.left.length;
  const { sat } = first;
  const sittings = countedSittings(sat, blocks);
  const page = writeReport(folder, { environment: sat.environment, sittings, profile, seed, blocks, left });
  for (const scenario of scenarios) {
    const shown = scenario === 'capacity' ? 'knee' : undefined;
    const own = blocks.filter((block) => block.scenario === scenario && block.mode === shown);
    if (own.length > 0) print(`\n${scenario}\n${summaryTable(scenario, own)}`);
  }
  const swept = blocks.filter(({ sweep }) => sweep);
  if (swept.length > 0) print(`\n${sweepTable(swept)}`);
  say(`Report: ${page}`);
  const red = blocks.filter(({ verdict }) => isRed(verdict));
  for (const { id, verdict, reasons } of red) print(`${verdict.toUpperCase()}  ${id}  ${reasons.join('; ')}`);
  if (left > 0) print(`\n${left} blocks are left: npm run compare -- --resume ${folder} goes on.`);
  print(
    red.length === 0
      ? `\nAll ${blocks.length} blocks are as they should be.`
      : `\n${red.length} of ${blocks.length} blocks are red.`,
  );
  return exitCodeOf(blocks);
}

/** The knees first: all loads come from them. Then the rounds of the sale that a difference needs; then everything else. */
async function compareAll(
  bench: Bench,
  { seed, profile, folder }: Run,
  scenarios: readonly ScenarioName[],
  deadline?: number,
): Promise<{ results: BlockResult[]; left: number; elsewhere: BlockPlan[] }> {
  const known = new Map<ScenarioName, string[]>();
  for (const scenario of scenarios) known.set(scenario, await offered(bench.system, scenario, strategiesOf(scenario)));
  const missing = scenarios.flatMap((scenario) =>
    strategiesOf(scenario).filter((name) => !known.get(scenario)!.includes(name)),
  );
  if (missing.length > 0) say(`The system does not know: ${[...new Set(missing)].join(', ')}`);

  const climbs = await runBlocks(bench, climbsOf(scenarios, known, seed), deadline);
  if (climbs.left.length > 0) return { results: climbs.results, left: climbs.left.length, elsewhere: [] };
  const { loads, rates } = measuredLoads(folder, climbs.results);
  say(
    loads
      ? `Loads come from what this machine carries: ${Object.entries(loads).map(([name, rate]) => `${name} ${rate}/s`).join(', ')}` // prettier-ignore
      : `Nothing was measured to take loads from: those of the profile ${profile} are offered`,
  );
  const round = (scenario: ScenarioName, number: number) =>
    scenarios.includes(scenario)
      ? roundOf(scenario, known.get(scenario)!, number, seed, undefined, undefined, loads)
      : [];
  const curve = (number: number) =>
    scenarios.includes('capacity') && rates.length > 0
      ? roundOf('capacity', known.get('capacity')!, number, seed, 'curve', rates)
      : [];
  const knees = (number: number) =>
    scenarios.includes('capacity') ? roundOf('capacity', known.get('capacity')!, number, seed, 'knee') : [];
  const { rounds, sweep } = profiles[profile];
  // More than the slowest can carry at one coupon: what it makes of a hundred is the question.
  const sweepRates = { ...sweep, ...(loads && { keys: Math.round(loads.slowestKnee * 1.2) }) };
  const sweeps = scenarios.includes('capacity')
    ? sweepPlans(
        known.get('capacity')!,
        { keys: sweptKeys, holds: sweptHolds, backoffs: sweptBackoffs },
        sweepRates,
        seed,
      )
    : [];
  const numbers = Array.from({ length: rounds }, (_, at) => at + 1);
  const [first, later, again] = [numbers.slice(0, fewestPairs), numbers.slice(fewestPairs), numbers.slice(1)];
  const plans = [
    ...first.flatMap((number) => round('coupon-flash', number)),
    ...curve(1),
    ...manyRounds.flatMap((name) => round(name, 1)),
    ...onceOnly.flatMap((name) => round(name, 1)),
    ...later.flatMap((number) => round('coupon-flash', number)),
    ...sweeps.filter((plan) => !ofItsOwn(plan)),
    ...again.flatMap((number) => [...manyRounds.flatMap((name) => round(name, number)), ...curve(number)]),
    // Last: a knee takes longest, and its curve is measured by then.
    ...again.flatMap(knees),
  ];
  say(
    `${plans.length} blocks to go${deadline === undefined ? '' : `, ${duration(deadline - performance.now())} left`}`,
  );
  const rest = await runBlocks(bench, plans, deadline);
  return { results: [...climbs.results, ...rest.results], left: rest.left.length, elsewhere: sweeps.filter(ofItsOwn) };
}

const orderScenarios: readonly ScenarioName[] = [
  'order-multi-item',
  'order-hot-option',
  'order-mixed',
  'pay-expire-race',
];

function climbsOf(scenarios: readonly ScenarioName[], known: Map<ScenarioName, string[]>, seed: number): BlockPlan[] {
  const issues = known.get('capacity') ?? [];
  const needsOrders = scenarios.some((name) => orderScenarios.includes(name));
  return [
    ...(needsOrders ? roundOf('order-multi-item', ['sorted'], 1, seed, 'knee') : []),
    ...roundOf('capacity', issues, 1, seed, 'knee'),
  ];
}

/** Kept in the folder: a run that goes on offers what it offered before. */
function measuredLoads(folder: string, climbs: readonly BlockResult[]): { loads?: Loads; rates: number[] } {
  const file = join(folder, 'loads.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as { loads?: Loads; rates: number[] };
  const good = climbs.filter(({ verdict }) => !isRed(verdict));
  const kneesOf = (scenario: ScenarioName) =>
    good.flatMap((block) => (block.scenario === scenario && block.knee ? block.knee.rate : []));
  const knees = kneesOf('capacity');
  const loads = loadsOf(knees, kneesOf('order-multi-item')[0]);
  const measured = { ...(loads && { loads }), rates: curveRates(knees) };
  if (loads) writeFileSync(file, `${JSON.stringify(measured)}\n`);
  return measured;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) runMain(main);
