import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import type { StrategyName } from '../../options.js';
import type { StoreKind, Weather } from './plan.js';
import { simulate } from './simulate.js';

/**
 * npm run simulate -- --schedules 100000 [--seed 1] [--jobs 2] [--weather calm|any] [--stores redis,…] [--strategies queue,…]
 * npm run simulate -- --replay 4711            the whole trace of one seed
 */
const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '1' },
    replay: { type: 'string' },
    weather: { type: 'string', default: 'any' },
    stores: { type: 'string' },
    strategies: { type: 'string' },
  },
});
const options = {
  weather: values.weather as Weather,
  stores: values.stores?.split(',') as StoreKind[] | undefined,
  strategies: values.strategies?.split(',') as StrategyName[] | undefined,
};
const first = whole('seed', values.seed);
const count = whole('schedules', values.schedules);
const jobs = whole('jobs', values.jobs);

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(`--${name} must be a whole number, not ${text}.`);
  process.exit(2);
}

function commit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  } catch {
    return 'no commit';
  }
}

let running = first;
process.on('unhandledRejection', (reason) => {
  console.error(`commit ${commit()} seed ${running}: an unhandled rejection: ${String(reason)} (law 5)`);
  process.exit(1);
});

async function replay(seed: number): Promise<number> {
  const { plan, trace, violations } = await simulate(seed, { ...options, tracing: true });
  console.log(JSON.stringify(plan, null, 1));
  console.log(trace.join('\n'));
  console.log(violations.length === 0 ? 'clean' : violations.join('\n'));
  return violations.length === 0 ? 0 : 1;
}

async function runAll(): Promise<number> {
  const startedAt = performance.now();
  const facts: Record<string, number> = {};
  let failed = 0;
  for (running = first; running < first + count; running += 1) {
    const verdict = await simulate(running, options);
    for (const [fact, times] of Object.entries(verdict.facts)) facts[fact] = (facts[fact] ?? 0) + times;
    if (verdict.violations.length === 0) continue;
    failed += 1;
    console.log(`commit ${commit()} seed ${running} (${verdict.plan.store}, ${verdict.plan.strategy}):`);
    for (const violation of verdict.violations.slice(0, 5)) console.log(`  ${violation}`);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const bitten = Object.entries(facts).toSorted(([a], [b]) => a.localeCompare(b));
  console.log(bitten.map(([fact, times]) => `${fact} ${times}`).join(' · '));
  console.log(`${count} schedules from seed ${first}, ${failed} failed, ${(count / seconds).toFixed(0)} a second`);
  return failed === 0 ? 0 : 1;
}

/** One process per job: each simulates its own share of the seeds. */
async function share(): Promise<number> {
  const size = Math.ceil(count / jobs);
  const codes = Array.from({ length: jobs }, async (_job, index) => {
    const given = process.argv.slice(2).filter((_arg, at, all) => !/^--(seed|schedules|jobs)$/.test(all[at - 1] ?? ''));
    const others = given.filter((arg) => !/^--(seed|schedules|jobs)/.test(arg));
    const own = ['--seed', String(first + index * size), '--schedules', String(size)];
    const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...own, ...others], {
      stdio: 'inherit',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  });
  return Math.max(...(await Promise.all(codes)));
}

const run =
  values.replay === undefined ? (jobs > 1 ? share : runAll) : () => replay(whole('replay', values.replay ?? ''));
run().then(
  // No process.exit: a trace that goes into a pipe would end in the middle.
  (code) => (process.exitCode = code),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
