import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Contender } from './contenders.js';
import { percentile } from './numbers.js';

export interface Block {
  port: number;
  key: string;
  contender: Contender;
  /** In this process. */
  waiters: number;
  warmUpMs: number;
  measureMs: number;
  holdMs: number;
}

/** Times are of the machine's monotonic clock, so that those of two processes can be compared. */
export interface Measured {
  /** Of each turn: granted, and about to release. */
  turns: [number, number][];
  waitsMs: number[];
  /** Waiters that never had a turn. */
  starved: number;
  /** Of this process, from its first measured turn on. */
  cpuMs: number;
}

export interface BlockResult {
  perSecond: number;
  /** Of the workers' CPU time: what the library costs, on a machine that is busy with other things too. */
  perCpuSecond: number;
  /** From a release to the next grant, whichever process it was in. */
  handOverMs: { p50: number; p99: number };
  waitMs: { p50: number; p99: number };
  starved: number;
  /** The longest time in which one process had no turn. */
  longestGapMs: number;
  /** Of the process that had the fewest turns; fair is one through the number of processes. */
  leastShare: number;
}

/** The processes of a run. A block goes to all of them at once. */
export class Workers {
  private constructor(private readonly children: readonly ChildProcess[]) {}

  static start(count: number): Workers {
    const program = fileURLToPath(new URL('./worker.ts', import.meta.url));
    const execArgv = ['--import', 'tsx'];
    return new Workers(Array.from({ length: count }, () => fork(program, { execArgv })));
  }

  async run(block: Omit<Block, 'waiters'>, waiters: number): Promise<BlockResult> {
    const share = { ...block, waiters: Math.ceil(waiters / this.children.length) };
    const measured = await Promise.all(this.children.map((child) => ask(child, share)));
    return resultOf(measured, block.measureMs);
  }

  stop(): void {
    for (const child of this.children) child.disconnect();
  }
}

async function ask(child: ChildProcess, block: Block): Promise<Measured> {
  child.send(block);
  const [answer] = (await once(child, 'message')) as [{ measured?: Measured; error?: string }];
  if (!answer.measured) throw new Error(`a worker of the benchmark failed: ${answer.error}`);
  return answer.measured;
}

function resultOf(measured: readonly Measured[], measureMs: number): BlockResult {
  const turns = measured.flatMap((each) => each.turns).toSorted(([one], [other]) => one - other);
  const handOvers = turns.slice(1).map(([grantedAt], index) => grantedAt - turns[index]![1]);
  const waits = measured.flatMap((each) => each.waitsMs);
  const gaps = measured.flatMap((each) =>
    each.turns.slice(1).map(([grantedAt], index) => grantedAt - each.turns[index]![0]),
  );
  const least = Math.min(...measured.map((each) => each.turns.length));
  return {
    perSecond: (turns.length / measureMs) * 1000,
    perCpuSecond: (turns.length / measured.reduce((sum, each) => sum + each.cpuMs, 0)) * 1000,
    handOverMs: { p50: percentile(handOvers, 0.5), p99: percentile(handOvers, 0.99) },
    waitMs: { p50: percentile(waits, 0.5), p99: percentile(waits, 0.99) },
    starved: measured.reduce((sum, each) => sum + each.starved, 0),
    // One that had no turn at all was without for the whole block.
    longestGapMs: least === 0 ? measureMs : gaps.reduce((longest, gap) => Math.max(longest, gap), 0),
    leastShare: least / turns.length,
  };
}
