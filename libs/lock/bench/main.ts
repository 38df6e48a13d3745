// npm run bench -- [--quick | --full] [--rounds 3] [--measure-ms 400] [--only waiters,burst] [--contenders "queue,redlock"]
//                  [--json file] [--markdown] [--publish] [--from file]
// This library's ways of waiting beside its peers, in the same processes, on the same Redis. Contenders take turns in short
// blocks, round after round, so that a slow minute of the machine hits them all; ratios are taken within a round. Absolute
// numbers are this machine's, ratios travel better. --from takes the results of an earlier run instead of measuring.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Bench } from './bench.js';
import { contenderNamed, contenders, control } from './contenders/index.js';
import { sumOf } from './figures.js';
import { measureAll } from './measure-all.js';
import { parts, planOf, type Plan } from './plan.js';
import { duration, elapsedMs, say } from './progress.js';
import { markdown, publish } from './publish.js';
import { terminalReport } from './report.js';
import { failuresOf, overlapsOf, type Results } from './results.js';
import { targetsOf } from './targets.js';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    'measure-ms': { type: 'string' },
    only: { type: 'string' },
    contenders: { type: 'string' },
    json: { type: 'string' },
    markdown: { type: 'boolean', default: false },
    publish: { type: 'boolean', default: false },
    from: { type: 'string' },
  },
});

/** A mistake in the arguments: shown without a stack. */
class ArgumentError extends Error {}

function positive(name: 'rounds' | 'measure-ms'): number | undefined {
  const value = values[name] === undefined ? undefined : Number(values[name]);
  if (value !== undefined && !(Number.isInteger(value) && value > 0))
    throw new ArgumentError(`--${name} is a whole number above 0, not "${values[name]}".`);
  return value;
}

function plan(): Plan {
  const only = values.only?.split(',');
  const unknown = only?.find((part) => !(parts as readonly string[]).includes(part));
  if (unknown !== undefined) throw new ArgumentError(`--only knows ${parts.join(', ')}, not "${unknown}".`);
  // Some names have a comma in them: a list is split where a name ends.
  const wanted = values.contenders?.split(/,(?! )/);
  const known = [...contenders, control].map(({ name }) => name);
  const stranger = wanted?.find((name) => !known.includes(name));
  if (stranger !== undefined) throw new ArgumentError(`--contenders knows "${known.join('", "')}", not "${stranger}".`);
  const size = values.quick ? 'quick' : values.full ? 'full' : 'default';
  return planOf({
    size,
    rounds: positive('rounds'),
    measureMs: positive('measure-ms'),
    parts: only,
    contenders: wanted,
  });
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

async function run(): Promise<Results> {
  const wanted = plan();
  const loadBefore = loadavg()[0]!;
  const bench = await Bench.open(wanted);
  const missing: Results['missing'] = [];
  const cells = await measureAll(wanted, bench, missing);
  await bench.close();
  const { size, rounds, measureMs, burstMs, countMs } = wanted;
  return {
    format: 1,
    environment: {
      date: new Date().toISOString().slice(0, 10),
      commit: commit(),
      node: process.versions.node,
      redis: bench.redisVersion,
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cores: cpus().length,
      loadBefore,
      loadAfter: loadavg()[0]!,
    },
    command: ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' '),
    plan: { size, rounds, measureMs, burstMs, countMs },
    missing,
    cells,
    targets: targetsOf(cells),
  };
}

/** What no run of ours may show, however busy the machine is. */
const wrongs = (results: Results): string[] => [
  ...results.missing
    .filter(({ contender }) => contenderNamed(contender).ours)
    .map(({ contender, reason }) => `${contender}: ${reason}`),
  ...results.cells.flatMap(({ name, rows }) =>
    rows
      .filter(({ contender }) => contenderNamed(contender).ours)
      .flatMap((row) => [
        ...(overlapsOf(row) > 0 ? [`${row.contender}, ${name}: two holders at once`] : []),
        ...(sumOf(failuresOf(row)) > 0 ? [`${row.contender}, ${name}: failures`] : []),
      ]),
  ),
];

async function main(): Promise<number> {
  const results = values.from ? (JSON.parse(readFileSync(values.from, 'utf8')) as Results) : await run();
  const { environment, plan: planned } = results;
  const load = `load ${environment.loadBefore.toFixed(1)} before, ${environment.loadAfter.toFixed(1)} after`;
  console.log(
    `${planned.rounds} rounds of ${planned.measureMs} ms; median (lowest .. highest); ${environment.cores} cores, ${load}`,
  );
  console.log(terminalReport(results));
  // JSON has no NaN: a figure that a block could not have is null.
  if (values.json) writeFileSync(values.json, `${JSON.stringify(results, undefined, 2)}\n`);
  if (values.markdown) console.log(`\n${markdown(results)}`);
  if (values.publish) publish(results);
  if (!values.from) say(`done in ${duration(elapsedMs())}`);
  const found = wrongs(results);
  for (const wrong of found) console.error(`WRONG: ${wrong}`);
  return found.length === 0 && results.targets.every(({ met }) => met) ? 0 : 1;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof ArgumentError ? error.message : error);
    process.exit(1);
  },
);
