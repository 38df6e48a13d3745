// npm run load -- <scenario> [--strategies a,b] [--profile smoke|standard|full] [--rounds n] [--seed n] [--minutes n]
//   [--into folder for a new run, --resume folder to go on with one]
// npm run load -- capacity --keys 1,10,100 --hold-ms 0,5,20,100 --backoff 0.25,1,4: the same load with other parameters.
// One line per strategy; exit 1 when an invariant broke, a gate did not hold, or a measurement was no good.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ofItsOwn, runBackoffs } from './backoff.js';
import { runMain, withBench } from './bench.js';
import { findK6 } from './k6.js';
import { kindOf, profileNames, profiles, roundOf, scenarioNames, strategiesOf } from './plan.js';
import type { ProfileName, ScenarioName } from './plan.js';
import { LoadError, print, say } from './progress.js';
import { writeReport } from './report/write.js';
import { offered, runBlocks } from './runner.js';
import { countedSittings, openRun, sitDown } from './sittings.js';
import { summaryTable } from './summary.js';
import { sweepPlans, sweepTable } from './sweep.js';
import { whyNoneOfOnesOwn } from './system.js';
import { exitCodeOf, isRed } from './verdict.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const usage = `usage: npm run load -- <scenario> [--strategies a,b] [--profile ${profileNames.join('|')}] [--rounds n] [--seed n] [--minutes n] [--into folder | --resume folder]
       npm run load -- capacity [--keys 1,10,100] [--hold-ms 0,5,20,100] [--backoff 0.25,1,4]
       npm run load -- k6                says which k6 would be used, and gets one where there is none
scenarios: ${scenarioNames.join(', ')}`;

interface Wanted {
  scenario: ScenarioName;
  strategies?: string[];
  profile?: ProfileName;
  rounds?: number;
  seed?: number;
  minutes?: number;
  folder: string;
  resume: boolean;
  keys?: number[];
  holds?: number[];
  backoffs?: number[];
}

export function readArguments(args: string[]): Wanted {
  let parsed;
  try {
    const text = { type: 'string' } as const;
    const options = { strategies: text, profile: text, rounds: text, seed: text, minutes: text, into: text, resume: text, keys: text, 'hold-ms': text, backoff: text }; // prettier-ignore
    parsed = parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new LoadError(`${(error as Error).message}\n${usage}`);
  }
  const { values, positionals } = parsed;
  const scenario = scenarioNames.find((name) => name === positionals[0]);
  if (!scenario || positionals.length !== 1) throw new LoadError(usage);
  const profile = profileNames.find((name) => name === values.profile);
  if (values.profile !== undefined && !profile) throw new LoadError(`--profile is one of ${profileNames.join(', ')}`);
  const strategies = values.strategies?.split(',').map((name) => name.trim());
  const unknown = strategies?.find((name) => !strategiesOf(scenario).includes(name));
  if (unknown !== undefined)
    throw new LoadError(`${scenario} compares ${strategiesOf(scenario).join(', ')}; it has no "${unknown}".`);
  const number = (name: 'rounds' | 'seed' | 'minutes', smallest: number) => {
    const value = values[name] === undefined ? undefined : Number(values[name]);
    if (value !== undefined && !(value >= smallest)) throw new LoadError(`--${name} is a number from ${smallest} on`);
    return value;
  };
  const numbers = (name: 'keys' | 'hold-ms' | 'backoff', smallest: number, largest: number) => {
    const given = values[name]?.split(',').map(Number);
    if (given && scenario !== 'capacity') throw new LoadError(`--${name} is a sweep of capacity`);
    const whole = name !== 'backoff';
    if (given?.some((value) => !(value >= smallest && value <= largest && (!whole || Number.isInteger(value)))))
      throw new LoadError(
        `--${name} takes ${whole ? 'whole ' : ''}numbers from ${smallest} to ${largest}, with commas between`,
      );
    return given;
  };
  const keys = numbers('keys', 1, 1000);
  const holds = numbers('hold-ms', 0, 1000);
  const backoffs = numbers('backoff', 0.01, 100);
  const [rounds, seed, minutes] = [number('rounds', 1), number('seed', 0), number('minutes', 0.1)];
  if (values.into !== undefined && values.resume !== undefined) throw new LoadError('--into or --resume: one of them');
  return {
    scenario,
    ...(strategies && { strategies }),
    ...(profile && { profile }),
    ...(keys && { keys }),
    ...(holds && { holds }),
    ...(backoffs && { backoffs }),
    ...(rounds !== undefined && { rounds }),
    ...(seed !== undefined && { seed }),
    ...(minutes !== undefined && { minutes }),
    resume: values.resume !== undefined,
    folder:
      values.resume ??
      values.into ??
      join(root, '.data', 'load', `${new Date().toISOString().slice(0, 19).replaceAll(':', '')}-${scenario}`),
  };
}

async function main(): Promise<number> {
  if (process.argv[2] === 'k6') {
    const { version, source } = findK6();
    print(`k6 ${version} (${source})`);
    return 0;
  }
  const wanted = readArguments(process.argv.slice(2));
  const { scenario, folder, minutes } = wanted;
  const run = openRun(wanted);
  const { profile, seed } = run;
  const { rounds = profiles[profile].rounds } = wanted;
  const command = `npm run load -- ${process.argv.slice(2).join(' ')}`;
  const no = wanted.backoffs && whyNoneOfOnesOwn();
  if (no) throw new LoadError(`--backoff: ${no}.`);
  const deadline = minutes === undefined ? undefined : performance.now() + minutes * 60_000;
  const swept = wanted.keys ?? wanted.holds ?? wanted.backoffs;
  const first = await withBench({ profile, folder, command }, async (bench, now) => {
    const strategies = await choose(bench.system, scenario, wanted.strategies);
    const sat = sitDown(run, now);
    say(
      `${scenario}, profile ${profile}: ${strategies.length} strategies ${swept ? 'with other parameters' : `x ${rounds} rounds`}, in random order, seed ${seed}`,
    );
    const mode = scenario === 'capacity' ? 'knee' : undefined;
    const rounded = Array.from({ length: rounds }, (_, round) =>
      roundOf(scenario, strategies, round + 1, seed, mode),
    ).flat();
    const plans = swept ? sweepPlans(strategies, wanted, profiles[profile].sweep, seed) : rounded;
    const [here, elsewhere] = [plans.filter((plan) => !ofItsOwn(plan)), plans.filter(ofItsOwn)];
    return { sat, elsewhere, ...(await runBlocks(bench, here, deadline)) };
  });
  const rest = await runBackoffs({ profile, folder, command }, first.elsewhere, deadline);
  const blocks = [...first.results, ...rest.results];
  const left = first.left.length + rest.left.length;
  const { sat } = first;
  const sittings = countedSittings(sat, blocks);
  const report = writeReport(folder, { environment: sat.environment, sittings, profile, seed, blocks, left });
  print(swept ? sweepTable(blocks) : summaryTable(scenario, blocks));
  say(`Report: ${report}`);
  const red = blocks.filter(({ verdict }) => isRed(verdict));
  if (red.length > 0) print(`${red.length} of ${blocks.length} blocks are red`);
  return exitCodeOf(blocks);
}

/** All that the system knows of those that are compared, or exactly those that were asked for. */
async function choose(
  system: Parameters<typeof offered>[0],
  scenario: ScenarioName,
  asked?: string[],
): Promise<string[]> {
  const wanted = asked ?? strategiesOf(scenario);
  const known = await offered(system, scenario, wanted);
  const missing = wanted.filter((name) => !known.includes(name));
  if (missing.length > 0 && asked)
    throw new LoadError(`The system does not know ${missing.join(', ')} (400 STRATEGY_UNKNOWN).`);
  if (missing.length > 0) say(`Left out, because the system does not know them: ${missing.join(', ')}`);
  if (known.length === 0)
    throw new LoadError(`The system knows no ${kindOf(scenario)} strategy of ${scenario}: is LAB=1 set?`);
  return known;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) runMain(main);
