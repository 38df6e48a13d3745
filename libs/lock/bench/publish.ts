// The table of libs/lock/README.md, from the results of a run: no figure in it is typed by hand.
import { readFileSync, writeFileSync } from 'node:fs';
import { contenders, measure } from './contenders/index.js';
import { sumOf } from './figures.js';
import { rounded } from './numbers.js';
import { timesOf } from './report.js';
import {
  commandsPerTurn,
  failuresOf,
  of,
  overlapsOf,
  rowOf,
  starvedOf,
  type CellResult,
  type Results,
  type Row,
} from './results.js';

const readme = new URL('../README.md', import.meta.url);
const begin = '<!-- bench -->';
const end = '<!-- /bench -->';

type Column = [heading: string, text: (contender: string) => string];

function columnsOf(cells: readonly CellResult[]): Column[] {
  const crowd = cells.find(({ part, waiters }) => part === 'waiters' && waiters === 100);
  const uncontended = cells.find(({ part }) => part === 'cycle');
  const compared = cells.filter(
    ({ part, waiters, processes, holdMs }) =>
      part === 'cycle' || (processes === 2 && holdMs === 0 && waiters >= 100 && part !== 'hand-over'),
  );
  const rowText = (cell: CellResult | undefined, text: (row: Row) => string) => {
    return (contender: string): string => {
      const row = rowOf(cell, contender);
      return row ? text(row) : '-';
    };
  };
  // Of a closed loop nothing else is worth as much: whoever polls and has just released takes it again.
  const left = (row: Row, { waiters }: CellResult) =>
    starvedOf(row) === 0 ? '' : `; ${starvedOf(row)} of ${waiters} had no turn`;
  const everywhere = (contender: string) =>
    cells.flatMap(({ rows }) => rows.filter((row) => row.contender === contender));
  const sum = (numbers: number[]) => numbers.reduce((one, other) => one + other, 0);
  return [
    ...compared.map((cell): Column => [cell.name, rowText(cell, (row) => `${timesOf(row, cell)}${left(row, cell)}`)]),
    ['commands, uncontended', rowText(uncontended, (row) => rounded(commandsPerTurn(row)))],
    ['commands, 100 waiters', rowText(crowd, (row) => rounded(commandsPerTurn(row)))],
    ['gap p50, 100 waiters', rowText(crowd, (row) => `${rounded(of(row, ({ gapMs }) => gapMs.p50).median)} ms`)],
    [
      'out of order, 100 waiters',
      rowText(crowd, (row) => `${rounded(of(row, ({ inversionShare }) => inversionShare * 100).median)} %`),
    ],
    ['failures', (contender) => String(sum(everywhere(contender).map((row) => sumOf(failuresOf(row)))))],
    ['two at once', (contender) => String(sum(everywhere(contender).map(overlapsOf)))],
  ];
}

/** As prettier would write it: every column as wide as its widest cell. */
function markdownTable(lines: readonly string[][]): string {
  const widths = lines[0]!.map((_heading, at) => Math.max(3, ...lines.map((line) => line[at]!.length)));
  const row = (cells: readonly string[]) => `| ${cells.map((text, at) => text.padEnd(widths[at]!)).join(' | ')} |`;
  const [head, ...body] = lines.map(row);
  return [head, row(widths.map((width) => '-'.repeat(width))), ...body].join('\n');
}

export function markdown(results: Results): string {
  const { environment, plan, command, missing, cells } = results;
  const columns = columnsOf(cells);
  const named = contenders.filter(({ name }) => cells.some((cell) => rowOf(cell, name)));
  const rows = named.map(({ name, waits }) => [`\`${name}\``, waits, ...columns.map(([, text]) => text(name))]);
  const { date, commit, node, redis, cpu, cores, loadBefore, loadAfter } = environment;
  const load = `load ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after`;
  return [
    `How many times as many turns a second \`${measure}\` gives as each, by rounds of one run: median (lowest .. highest) of ${plan.rounds}; ` +
      'without a hold. Absolute numbers are of one machine, and are not given.',
    markdownTable([['', 'how it waits', ...columns.map(([heading]) => heading)], ...rows]),
    `${date}, commit \`${commit}\`, ${cpu}, ${cores} cores, ${load}, Node ${node}, Redis ${redis}. Made by \`${command}\`.`,
    ...missing.map(({ contender, reason }) => `Not measured: \`${contender}\`: ${reason}.`),
  ].join('\n\n');
}

export function betweenMarkers(text: string, content: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`libs/lock/README.md has no ${begin} … ${end}: put them back.`);
  return `${text.slice(0, from + begin.length)}\n\n${content}\n\n${text.slice(to)}`;
}

export function publish(results: Results): void {
  if (results.plan.size === 'quick') throw new Error('--quick is too short to be published: leave it out.');
  writeFileSync(readme, betweenMarkers(readFileSync(readme, 'utf8'), markdown(results)));
}
