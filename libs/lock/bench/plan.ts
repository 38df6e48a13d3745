// What is measured: cells (how many wait, where, for how long somebody holds) times contenders, in three sizes.
import { contenders, control, handOvers, measure } from './contenders/index.js';

export const parts = ['cycle', 'waiters', 'holds', 'processes', 'burst', 'hand-over'] as const;
export type Part = (typeof parts)[number];

export interface Cell {
  part: Part;
  name: string;
  waiters: number;
  processes: number;
  holdMs: number;
  /** All ask at once, once. A closed loop lets whoever just released ask first, which flatters those who poll. */
  oneShot: boolean;
  contenders: readonly string[];
  /** Commands and connections are counted too, in a block of their own. */
  counted: boolean;
}

export interface Plan {
  size: 'quick' | 'default' | 'full';
  rounds: number;
  measureMs: number;
  /** A one-shot burst that takes longer is cut off: who waits then is counted as without a turn. */
  burstMs: number;
  /** The same for a block in which commands are counted. */
  countMs: number;
  youthMs: number;
  warmUpMs(waiters: number): number;
  cells: Cell[];
}

const names = contenders.map(({ name }) => name);
/** Where a whole table would only say the same again. */
const main = ['pubsub', 'queue', 'naive pub/sub', 'redlock, 10 ms', 'redis-semaphore'];

const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : what.endsWith('s') ? 'es' : 's'}`;

type Shape = Pick<Cell, 'part' | 'waiters' | 'processes'> & Partial<Cell>;

function cell({ holdMs = 0, oneShot = false, counted = false, ...shape }: Shape): Cell {
  const { part, waiters, processes } = shape;
  const where = `${plural(waiters, 'waiter')} in ${plural(processes, 'process')}`;
  const hold = holdMs === 0 ? 'no hold' : `a hold of ${holdMs} ms`;
  const name = part === 'cycle' ? 'uncontended' : `${where}, ${oneShot ? 'one-shot burst' : hold}`;
  return { name, holdMs, oneShot, counted, contenders: names, ...shape };
}

const cycle = cell({ part: 'cycle', waiters: 1, processes: 1, counted: true });
const handOver = cell({
  part: 'hand-over',
  waiters: 100,
  processes: 2,
  contenders: handOvers.map(({ name }) => name),
});

function quick(): Plan {
  return {
    size: 'quick',
    rounds: 1,
    measureMs: 120,
    burstMs: 1000,
    countMs: 500,
    youthMs: 40,
    warmUpMs: () => 100,
    cells: [
      cycle,
      cell({ part: 'waiters', waiters: 20, processes: 2, counted: true }),
      // Two holders at once are seen where a body takes its time.
      cell({ part: 'holds', waiters: 20, processes: 2, holdMs: 2 }),
      cell({ part: 'burst', waiters: 20, processes: 2, oneShot: true }),
    ],
  };
}

function standard(): Plan {
  return {
    size: 'default',
    rounds: 3,
    measureMs: 400,
    burstMs: 4000,
    countMs: 800,
    youthMs: 250,
    // Everybody has to have lined up once before it counts: 1000 waiters take a while.
    warmUpMs: (waiters) => 250 + waiters * 1.25,
    cells: [
      cycle,
      ...[10, 100, 1000].map((waiters) => cell({ part: 'waiters', waiters, processes: 2, counted: waiters === 100 })),
      ...[1, 5, 20].map((holdMs) => cell({ part: 'holds', waiters: 100, processes: 2, holdMs, contenders: main })),
      ...[1, 4].map((processes) => cell({ part: 'processes', waiters: 100, processes, contenders: main })),
      cell({ part: 'burst', waiters: 100, processes: 2, oneShot: true }),
      handOver,
    ],
  };
}

function full(): Plan {
  const cells = [cycle];
  for (const processes of [1, 2, 4]) {
    for (const waiters of [1, 10, 100, 1000].filter((count) => count >= processes)) {
      for (const holdMs of [0, 1, 5, 20]) {
        if (waiters === 1 && holdMs === 0) continue;
        const part = processes !== 2 ? 'processes' : holdMs > 0 ? 'holds' : 'waiters';
        cells.push(cell({ part, waiters, processes, holdMs, counted: true }));
      }
      if (waiters > 1) cells.push(cell({ part: 'burst', waiters, processes, oneShot: true }));
    }
  }
  return {
    size: 'full',
    rounds: 5,
    measureMs: 1000,
    burstMs: 15_000,
    countMs: 2000,
    youthMs: 300,
    warmUpMs: (waiters) => 300 + waiters * 1.5,
    cells: [...cells, handOver],
  };
}

export interface Wishes {
  size: Plan['size'];
  rounds?: number;
  measureMs?: number;
  parts?: string[];
  contenders?: string[];
}

export function planOf(wishes: Wishes): Plan {
  const plan = { quick, default: standard, full }[wishes.size]();
  const wanted = (one: Cell): Cell => {
    if (!wishes.contenders || one.part === 'hand-over') return one;
    const { contenders: chosen } = wishes;
    // Ours stays in: without it there is nothing to be a ratio to.
    const kept = one.contenders.filter((name) => name === measure || chosen.includes(name));
    return { ...one, contenders: chosen.includes(control.name) ? [...kept, control.name] : kept };
  };
  return {
    ...plan,
    rounds: wishes.rounds ?? plan.rounds,
    measureMs: wishes.measureMs ?? plan.measureMs,
    cells: plan.cells.filter(({ part }) => wishes.parts?.includes(part) !== false).map(wanted),
  };
}
