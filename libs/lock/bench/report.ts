import { measure } from './contenders/index.js';
import { sumOf } from './figures.js';
import { rounded, shown } from './numbers.js';
import {
  commandsPerTurn,
  failuresOf,
  measureOf,
  of,
  overlapsOf,
  perSecond,
  ratio,
  starvedOf,
  type CellResult,
  type Results,
  type Row,
} from './results.js';

type Column = [heading: string, text: (row: Row, cell: CellResult) => string];

/** Of each figure the median of the rounds; of turns and ratios the lowest and the highest too. */
const columns: Column[] = [
  ['turns/s', (row) => shown(of(row, perSecond))],
  [`${measure} is x times`, (row, cell) => timesOf(row, cell)],
  ['gap p50 ms', (row) => rounded(of(row, ({ gapMs }) => gapMs.p50).median)],
  ['gap p99 ms', (row) => rounded(of(row, ({ gapMs }) => gapMs.p99).median)],
  ['wait p99 ms', (row) => rounded(of(row, ({ waitMs }) => waitMs.p99).median)],
  ['commands', (row) => rounded(commandsPerTurn(row))],
  ['connections', (row) => (row.counts ? String(row.counts.connections) : '-')],
  ['Redis us', (row) => rounded(of(row, ({ redisCpuUs }) => redisCpuUs).median)],
  ['Node us', (row) => rounded(of(row, ({ nodeCpuUs }) => nodeCpuUs).median)],
  ['inversions %', (row) => rounded(of(row, ({ inversionShare }) => inversionShare * 100).median)],
  ['no turn', (row) => String(starvedOf(row))],
  ['failures', (row) => String(sumOf(failuresOf(row)))],
  ['overlaps', (row) => String(overlapsOf(row))],
];

/** Of the bound of the hand-over: what is bought, and what it costs those in the other process. */
const curveColumns: Column[] = [
  ['turns/s', (row) => shown(of(row, perSecond))],
  ['gap p50 ms', (row) => rounded(of(row, ({ gapMs }) => gapMs.p50).median)],
  ['wait p99 ms', (row) => rounded(of(row, ({ waitMs }) => waitMs.p99).median)],
  ['a process without, ms', (row) => rounded(of(row, ({ longestGapMs }) => longestGapMs).median)],
  ['least share %', (row) => rounded(of(row, ({ leastShare }) => leastShare * 100).median)],
  ['no turn', (row) => String(starvedOf(row))],
  ['overlaps', (row) => String(overlapsOf(row))],
];

export function timesOf(row: Row, cell: CellResult): string {
  const ours = measureOf(cell);
  if (!ours) return '-';
  return row === ours ? '1' : shown(ratio(ours, row));
}

function table(cell: CellResult): string[] {
  const shownColumns = cell.part === 'hand-over' ? curveColumns : columns;
  const lines = [
    ['', ...shownColumns.map(([heading]) => heading)],
    ...cell.rows.map((row) => [row.contender, ...shownColumns.map(([, text]) => text(row, cell))]),
  ];
  const widths = lines[0]!.map((_heading, at) => Math.max(...lines.map((line) => line[at]!.length)));
  return lines.map((line) => `  ${line.map((text, at) => text.padEnd(widths[at]!)).join('  ')}`.trimEnd());
}

const legend = [
  'gap: from the end of a body to the next grant, in whichever process; commands: those that clients send for a turn, by MONITOR without',
  'what scripts run, in blocks of their own in which nothing is timed; us: CPU time of a turn; inversions: of pairs that waited at the same',
  'time; no turn: waiters, in the worst round; overlaps: grants while another body ran',
];

/** Everything that was measured, for a terminal. */
export function terminalReport({ cells, missing, targets }: Results): string {
  const lines = [...legend];
  for (const cell of cells) {
    lines.push('', cell.name, ...table(cell));
    for (const row of cell.rows) {
      for (const [message, count] of Object.entries(failuresOf(row)))
        lines.push(`  ! ${row.contender}: ${count} x ${message}`);
    }
  }
  for (const { contender, reason } of missing) lines.push('', `NOT MEASURED: ${contender}: ${reason}`);
  if (targets.length > 0) lines.push('', 'targets');
  for (const { name, met, ...value } of targets) lines.push(`  ${met ? 'met   ' : 'MISSED'} ${name}: ${shown(value)}`);
  return lines.join('\n');
}
