// npm run bench:issue -- [--quick] [--rounds 3] [--measure-ms 1200] [--only batched,atomic] [--json file]
// With PROFILE=folder in the environment each instance leaves a CPU profile there.
// One hot coupon that does not run out, two instances of the built app, users in a closed loop. The contenders take turns in
// short blocks, round after round, so that a slow minute of the machine hits them all; ratios are taken within a round.
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { build } from '../../tools/build.mjs';
import { ensureDatabase } from '../../tools/databases.mjs';
import { explain, say } from '../../tools/progress.mjs';
import { cleanUpDeadRuns, Run, testRunFile } from '../../tools/runs.mjs';
import { benchServices } from '../../tools/services.mjs';
import { Bench, type Measured } from './bench.js';
import { contenders, sizes } from './contenders.js';
import { report, type Results } from './report.js';
import { Instance } from './system.js';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    'measure-ms': { type: 'string' },
    only: { type: 'string' },
    json: { type: 'string' },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
const measureMs = Number(values['measure-ms'] ?? (values.quick ? 600 : 1200));
const chosen = contenders.filter(({ name }) => !values.only || values.only.split(',').includes(name));
const times = (users: number) => ({ warmUpMs: 300 + users / 2, measureMs });

await cleanUpDeadRuns();
const run = Run.open(testRunFile())!;
let ending: Promise<never> | undefined;
const end = (code: number) => (ending ??= run.stop().then(() => process.exit(code)));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(1));

async function measureAll(bench: Bench): Promise<Results> {
  const results: Results = { blocks: new Map(), bare: { one: [], many64: [], many256: [] }, commands: new Map() };
  const keep = (name: string, measured: Measured) => {
    results.blocks.set(name, [...(results.blocks.get(name) ?? []), measured]);
    say(`${name.padEnd(16)} ${measured.perSecond.toFixed(0).padStart(6)}/s   p99 ${measured.p99.toFixed(1)} ms`);
  };
  // A young process is slower than one whose code is compiled: not part of any number.
  for (const contender of chosen) await bench.measure(contender, 64, { warmUpMs: 0, measureMs: 1000 });
  for (let round = 0; round < rounds; round += 1) {
    say(`round ${round + 1} of ${rounds}`);
    results.bare.one.push(await bench.bareOne(measureMs));
    results.bare.many64.push(await bench.bareMany(64, measureMs));
    results.bare.many256.push(await bench.bareMany(256, measureMs));
    for (const users of sizes) {
      for (let index = 0; index < chosen.length; index += 1) {
        const contender = chosen[(index + round) % chosen.length]!;
        if (contender.slow && users === 1000 && round > 0) continue;
        keep(`${contender.name} ${users}`, await bench.measure(contender, users, times(users)));
      }
    }
  }
  for (const contender of chosen.filter(({ name }) => name !== 'empty'))
    results.commands.set(contender.name, await bench.commandsPerIssue(contender, 256, measureMs / 2));
  return results;
}

async function main(): Promise<number> {
  const servers = await benchServices(run);
  await ensureDatabase(servers.couponDatabaseUrl);
  await build();
  const instances: Instance[] = [];
  for (const name of ['coupon-1', 'coupon-2'])
    instances.push(await Instance.start(name, servers, (child) => run.addProcess('app', name, child)));
  say(
    `${rounds} rounds of ${measureMs} ms; median (lowest .. highest); ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`,
  );
  const bench = await Bench.open(instances, servers);
  const results = await measureAll(bench);
  await bench.close();
  for (const instance of instances) await instance.stop();
  const targets = report(results);
  if (values.json) {
    const { bare, blocks, commands } = results;
    const document = {
      rounds,
      measureMs,
      targets,
      bare,
      blocks: Object.fromEntries(blocks),
      commands: Object.fromEntries(commands),
    };
    writeFileSync(values.json, `${JSON.stringify(document, undefined, 2)}\n`);
  }
  return targets.every(({ met }) => met) ? 0 : 1;
}

main().then(end, (error: unknown) => {
  console.error(explain(error));
  void end(1);
});
