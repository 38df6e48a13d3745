// npm run bench:lock [-- --rounds 5 --measure-ms 1000 --json file]
// Contenders take turns in short blocks, round after round, so that a slow minute of the machine hits them all; ratios are
// taken within a round. Absolute numbers are this machine's, ratios travel better.
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { adaptive, pubsub, queue, spin, textbook, withHandOver, type Contender } from './contenders.js';
import { shown, spread, type Spread } from './numbers.js';
import { startRedis } from './redis.js';
import { Workers, type BlockResult } from './workers.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    'measure-ms': { type: 'string', default: '1000' },
    json: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const measureMs = Number(values['measure-ms']);
// Everybody has to have lined up once before it counts: 1000 waiters take a while.
const warmUpMs = (waiters: number) => 300 + waiters * 1.5;

const redis = await startRedis();
const workers = Workers.start(2);
let blocks = 0;

const run = (contender: Contender, waiters: number, holdMs = 0): Promise<BlockResult> => {
  blocks += 1;
  return workers.run(
    { port: redis.port, key: `bench:${blocks}`, contender, warmUpMs: warmUpMs(waiters), measureMs, holdMs },
    waiters,
  );
};

/** Every case once a round, in an order that turns by one each time. */
async function alternate(cases: readonly { name: string; run(): Promise<BlockResult> }[]) {
  const results = new Map<string, BlockResult[]>(cases.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (let index = 0; index < cases.length; index += 1) {
      const turn = cases[(index + round) % cases.length]!;
      results.get(turn.name)!.push(await turn.run());
    }
  }
  return results;
}

const ratio = (ones: BlockResult[], others: BlockResult[]): Spread =>
  spread(ones.map(({ perSecond }, index) => perSecond / others[index]!.perSecond));

const table = (results: Map<string, BlockResult[]>) => {
  for (const [name, blocksOf] of results) {
    const perSecond = shown(spread(blocksOf.map((block) => block.perSecond)));
    const perCpu = shown(spread(blocksOf.map((block) => block.perCpuSecond)));
    const p50 = shown(spread(blocksOf.map((block) => block.handOverMs.p50)), 2);
    const p99 = shown(spread(blocksOf.map((block) => block.waitMs.p99)), 1);
    const gap = shown(spread(blocksOf.map((block) => block.longestGapMs)), 1);
    const share = shown(spread(blocksOf.map((block) => block.leastShare * 100)));
    const starved = Math.max(...blocksOf.map((block) => block.starved));
    console.log(
      `  ${name.padEnd(18)} ${perSecond.padEnd(30)} ${perCpu.padEnd(30)} ${p50.padEnd(22)} ${p99.padEnd(28)} ${gap.padEnd(26)} ${share.padEnd(16)} ${starved}`,
    );
  }
};
const heading = (text: string) => {
  console.log(
    `\n${text}\n  ${' '.repeat(18)} ${'turns a second'.padEnd(30)} ${'turns a CPU second'.padEnd(30)} ${'hand-over p50, ms'.padEnd(22)} ${'wait p99, ms'.padEnd(28)} ${'a process without, ms'.padEnd(26)} ${'least share, %'.padEnd(16)} waiters without`,
  );
};

console.log(
  `${rounds} rounds of ${measureMs} ms, 2 processes; median (lowest .. highest); ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`,
);

// A young process is slower than one whose code is compiled: not part of any number.
for (const contender of [pubsub, textbook, queue, adaptive, spin]) await run(contender, 100);

heading('100 waiters, no hold');
const strategies = await alternate(
  [pubsub, textbook, queue, adaptive, spin].map((contender) => ({
    name: contender.name,
    run: () => run(contender, 100),
  })),
);
table(strategies);

heading('100 waiters, a hold of 1 ms');
const held = await alternate(
  [pubsub, textbook, queue].map((contender) => ({ name: contender.name, run: () => run(contender, 100, 1) })),
);
table(held);

heading('100 and 1000 waiters, no hold');
const sizes = await alternate(
  [pubsub, queue].flatMap((contender) =>
    [100, 1000].map((waiters) => ({ name: `${contender.name}, ${waiters}`, run: () => run(contender, waiters) })),
  ),
);
table(sizes);

heading('the bound of the hand-over: throughput against fairness (100 waiters, no hold)');
const curve = await alternate(
  [1, 4, 16, 64, 256, 1000].map((count) => ({ name: `${count}`, run: () => run(withHandOver(count), 100) })),
);
table(curve);

workers.stop();
await redis.stop();

const targets = [
  {
    name: 'pubsub with the local line is at least 20 times the textbook one',
    value: ratio(strategies.get('pubsub')!, strategies.get('textbook pub/sub')!),
    met: ({ median }: Spread) => median >= 20,
  },
  {
    name: 'queue hands over in at most 1.5 ms (p50)',
    value: spread(strategies.get('queue')!.map(({ handOverMs }) => handOverMs.p50)),
    met: ({ median }: Spread) => median <= 1.5,
  },
  ...(['pubsub', 'queue'] as const).map((name) => ({
    name: `${name}: 1000 waiters are at least 0.8 times as fast as 100`,
    value: ratio(sizes.get(`${name}, 1000`)!, sizes.get(`${name}, 100`)!),
    met: ({ median }: Spread) => median >= 0.8,
  })),
];
console.log('\ntargets');
for (const { name, value, met } of targets) {
  console.log(`  ${met(value) ? 'met   ' : 'MISSED'} ${name}: ${shown(value, 2)}`);
}
if (values.json) {
  const parts = { strategies, held, sizes, curve };
  const results = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, Object.fromEntries(part)]));
  const verdicts = targets.map(({ name, value, met }) => ({ name, ...value, met: met(value) }));
  writeFileSync(values.json, `${JSON.stringify({ rounds, measureMs, targets: verdicts, ...results }, undefined, 2)}\n`);
}
process.exit(targets.every(({ value, met }) => met(value)) ? 0 : 1);
