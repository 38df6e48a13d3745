import type { Measured } from './bench.js';
import { contenders, sizes, type Size } from './contenders.js';
import { median, ratio, shown, spread, type Spread } from './numbers.js';

export interface Results {
  /** `batched 256` -> one block for each round. */
  blocks: Map<string, Measured[]>;
  /** Issues a second of plain SQL, round by round. */
  bare: { one: number[]; many64: number[]; many256: number[] };
  /** Redis commands for each issue at 256 users. */
  commands: Map<string, number>;
}

interface Target {
  name: string;
  value: Spread;
  met: boolean;
}

export function report(results: Results): Target[] {
  const { blocks, bare, commands } = results;
  const of = (name: string, size: Size) => blocks.get(`${name} ${size}`) ?? [];
  const speeds = (name: string, size: Size) => of(name, size).map(({ perSecond }) => perSecond);
  const within = (name: string, size: Size) => speeds(name, size).length;
  for (const size of sizes) {
    console.log(
      `\n${size} users\n  ${''.padEnd(12)} ${'issues/s'.padEnd(26)} ${'of empty'.padEnd(9)} ${'of atomic'.padEnd(10)} ${'p50 ms'.padEnd(8)} ${'p99 ms'.padEnd(8)} ${'per tx'.padEnd(7)} ${'inversions within, across'.padEnd(26)} refused`,
    );
    for (const { name } of contenders) {
      const measured = of(name, size);
      if (measured.length === 0) continue;
      const middle = (pick: (block: Measured) => number) => median(measured.map(pick));
      const rate = (count: (judged: NonNullable<Measured['judged']>) => number) =>
        middle(({ judged }) => (judged ? (count(judged) / judged.issued) * 100 : NaN));
      const relative = (other: string) =>
        ratio(speeds(name, size), speeds(other, size).slice(0, within(name, size))).median;
      const inversions =
        name === 'empty'
          ? ''
          : `${rate((j) => j.inversions.within).toFixed(2)} %, ${rate((j) => j.inversions.across).toFixed(2)} %`;
      const refused = Object.entries(merged(measured)).map(([code, count]) => `${count} ${code}`);
      console.log(
        `  ${name.padEnd(12)} ${shown(spread(speeds(name, size))).padEnd(26)} ${relative('empty').toFixed(2).padEnd(9)} ${relative('atomic').toFixed(2).padEnd(10)} ${middle(
          (b) => b.p50,
        )
          .toFixed(1)
          .padEnd(8)} ${middle((b) => b.p99)
          .toFixed(1)
          .padEnd(8)} ${middle((b) => b.judged?.perTransaction ?? 0)
          .toFixed(1)
          .padEnd(7)} ${inversions.padEnd(26)} ${refused.join(', ')}`,
      );
    }
  }
  console.log('\nbare SQL on two connections, issues/s');
  console.log(`  one conditional statement  ${shown(spread(bare.one))}`);
  console.log(`  64 users a transaction     ${shown(spread(bare.many64))}`);
  console.log(`  256 users a transaction    ${shown(spread(bare.many256))}`);
  console.log('\nRedis commands an issue at 256 users');
  console.log(`  ${[...commands].map(([name, count]) => `${name} ${count.toFixed(2)}`).join(', ')}`);

  const targets = judgeTargets(results);
  console.log('\ntargets');
  for (const { name, value, met } of targets) console.log(`  ${met ? 'met   ' : 'MISSED'} ${name}: ${shown(value, 2)}`);
  return targets;
}

function judgeTargets({ blocks, commands }: Results): Target[] {
  const of = (name: string, size: Size) => blocks.get(`${name} ${size}`) ?? [];
  const speeds = (name: string, size: Size) => of(name, size).map(({ perSecond }) => perSecond);
  const targets: Target[] = [];
  const atLeast = (name: string, value: Spread, bound: number) =>
    targets.push({ name, value, met: value.median >= bound });
  const atMost = (name: string, value: Spread, bound: number) =>
    targets.push({ name, value, met: value.median <= bound });
  for (const [other, bound] of [
    ['empty', 0.6],
    ['atomic', 4],
    ['pessimistic', 8],
    ['textbook', 20],
  ] as const) {
    atLeast(
      `batched is at least ${bound} x ${other} at 256 users`,
      ratio(speeds('batched', 256), speeds(other, 256)),
      bound,
    );
  }
  const p99 = (name: string) => of(name, 256).map((block) => block.p99);
  atMost('p99 of batched is below that of atomic', ratio(p99('batched'), p99('atomic')), 1);
  atLeast(
    'batched: at least 30 issues a transaction',
    spread(of('batched', 256).map((b) => b.judged?.perTransaction ?? 0)),
    30,
  );
  atMost('batched: at most 0.2 Redis commands an issue', spread([commands.get('batched') ?? NaN]), 0.2);
  atLeast('pubsub is at least 1 x atomic', ratio(speeds('pubsub', 256), speeds('atomic', 256)), 1);
  atLeast('queue is at least 0.25 x atomic', ratio(speeds('queue', 256), speeds('atomic', 256)), 0.25);
  for (const name of ['batched', 'pubsub', 'queue', 'atomic']) {
    atLeast(`${name}: 1000 users at least 0.8 x 64 users`, ratio(speeds(name, 1000), speeds(name, 64)), 0.8);
  }
  for (const name of ['batched', 'queue']) {
    const inversions = sizes.flatMap((size) => of(name, size).map(({ judged }) => judged?.inversions.within ?? NaN));
    atMost(`${name}: no inversion within an instance`, spread(inversions), 0);
  }
  return targets;
}

function merged(blocks: Measured[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const { refused } of blocks)
    for (const [code, count] of Object.entries(refused)) sum[code] = (sum[code] ?? 0) + count;
  return sum;
}
