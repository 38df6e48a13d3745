import type { BlockFigures } from './figures.js';
import { sumOf, together } from './figures.js';
import { measure } from './contenders/index.js';
import { spread, type Spread } from './numbers.js';
import type { Cell, Plan } from './plan.js';

/** Of a block in which nothing was timed. */
export interface Counts {
  turns: number;
  /** That clients sent, by name: by MONITOR, without what scripts ran. */
  commands: Record<string, number>;
  connections: number;
}

export interface Row {
  contender: string;
  blocks: BlockFigures[];
  counts?: Counts;
}

export type CellResult = Omit<Cell, 'contenders' | 'counted'> & { rows: Row[] };

export interface Results {
  format: 1;
  environment: {
    date: string;
    commit: string;
    node: string;
    redis: string;
    cpu: string;
    cores: number;
    loadBefore: number;
    loadAfter: number;
  };
  command: string;
  plan: Pick<Plan, 'size' | 'rounds' | 'measureMs' | 'burstMs' | 'countMs'>;
  /** Contenders without figures, and why. */
  missing: { contender: string; reason: string }[];
  cells: CellResult[];
  targets: Verdict[];
}

export interface Verdict extends Spread {
  name: string;
  met: boolean;
}

export const of = (row: Row, figure: (block: BlockFigures) => number): Spread => spread(row.blocks.map(figure));
export const perSecond = ({ perSecond: value }: BlockFigures): number => value;
export const overlapsOf = ({ blocks }: Row): number => blocks.reduce((sum, { overlaps }) => sum + overlaps, 0);
export const failuresOf = ({ blocks }: Row): Record<string, number> => together(blocks.map(({ failures }) => failures));
/** In the worst block. */
export const starvedOf = ({ blocks }: Row): number => Math.max(0, ...blocks.map(({ starved }) => starved));

/** NaN where nothing was granted. */
export const commandsPerTurn = ({ counts }: Row): number =>
  counts && counts.turns > 0 ? sumOf(counts.commands) / counts.turns : NaN;

/** Times as many turns a second, round by round: `one` against `other`. */
export const ratio = (one: Row, other: Row): Spread =>
  spread(
    one.blocks.flatMap((block, round) => {
      const against = other.blocks[round];
      return against ? [block.perSecond / against.perSecond] : [];
    }),
  );

export const rowOf = (cell: CellResult | undefined, contender: string): Row | undefined =>
  cell?.rows.find((row) => row.contender === contender && row.blocks.length > 0);

export const measureOf = (cell: CellResult): Row | undefined => rowOf(cell, measure);
