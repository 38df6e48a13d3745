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
import { contenderNamed } from './contenders/index.js';
import { sumOf } from './figures.js';
import { parts, planOf, type Cell, type Plan } from './plan.js';
import { duration, elapsedMs, say, TimeLeft } from './progress.js';
import { markdown, publish } from './publish.js';
import { terminalReport } from './report.js';
import { failuresOf, overlapsOf, type CellResult, type Results, type Row } from './results.js';
import { targetsOf } from './targets.js';
import { ContenderFailed } from './workers.js';

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
  for (const name of wanted ?? []) contenderNamed(name);
  const size = values.quick ? 'quick' : values.full ? 'full' : 'default';
  return planOf({
    size,
    rounds: positive('rounds'),
    measureMs: positive('measure-ms'),
    parts: only,
    contenders: wanted,
  });
}

/** Those that can be loaded; for the others it says why not. */
async function loadable(cells: readonly Cell[], missing: Results['missing']): Promise<Set<string>> {
  const names = new Set(cells.flatMap((cell) => cell.contenders));
  for (const name of names) {
    try {
      await contenderNamed(name).load();
    } catch (error) {
      const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
      missing.push({ contender: name, reason: `not installed, or not to be loaded (${reason})` });
      names.delete(name);
      say(`NOT MEASURED: ${name}: ${reason}`);
    }
  }
  return names;
}

async function measureAll(wanted: Plan, bench: Bench, missing: Results['missing']): Promise<CellResult[]> {
  const able = await loadable(wanted.cells, missing);
  const cells = wanted.cells.map(({ contenders: names, counted, ...cell }) => {
    const rows: Row[] = names.filter((name) => able.has(name)).map((contender) => ({ contender, blocks: [] }));
    return { cell: { ...cell, contenders: names, counted }, result: { ...cell, rows } };
  });
  const guess = (cell: Cell) => Bench.guessMs(cell, wanted);
  const passes = (cell: Cell) => wanted.rounds + (cell.counted ? 1 : 0);
  const left = new TimeLeft(
    cells.reduce((sum, { cell, result }) => sum + guess(cell) * result.rows.length * passes(cell), 0),
  );

  /** A contender that cannot go on costs its own figures only. */
  const each = async (cell: Cell, rows: readonly Row[], work: (row: Row) => Promise<void>) => {
    for (const row of rows) {
      try {
        if (able.has(row.contender)) await work(row);
      } catch (error) {
        if (!(error instanceof ContenderFailed)) throw error;
        able.delete(row.contender);
        missing.push({ contender: row.contender, reason: `gave up at "${cell.name}" (${error.message})` });
        say(`NOT MEASURED any more: ${row.contender}: ${error.message}`);
      }
      left.done(guess(cell));
    }
  };

  for (const { cell, result } of cells.filter((one) => one.cell.counted)) {
    say(`counting commands: ${cell.name}; ${left.text()}`);
    await each(cell, result.rows, async (row) => {
      row.counts = await bench.counted(row.contender, cell);
    });
  }
  for (let round = 0; round < wanted.rounds; round += 1) {
    for (const { cell, result } of cells) {
      say(`round ${round + 1} of ${wanted.rounds}: ${cell.name}; ${left.text()}`);
      // In an order that turns by one each time: nobody is always the one after the slowest.
      const turned = result.rows.map((_row, at) => result.rows[(at + round) % result.rows.length]!);
      await each(cell, turned, async (row) => {
        row.blocks.push(await bench.timed(row.contender, cell));
      });
    }
  }
  return cells.map(({ result }) => result);
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
