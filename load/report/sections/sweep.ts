// What the parameters do: how many coupons share the load, how long each turn lasts, how patient those are who poll.
import type { BlockResult } from '../../block.js';
import { strategiesOf } from '../../plan.js';
import { sweepPoint } from '../../sweep.js';
import type { SweepPoint } from '../../sweep.js';
import { figure, percent } from '../format.js';
import { name, section, table } from '../html.js';

interface Row {
  strategy: string;
  points: SweepPoint[];
}

export function sweepSection(blocks: readonly BlockResult[]): string {
  const good = blocks.filter(({ mode, verdict }) => mode === 'sweep' && verdict !== 'refused');
  if (good.length === 0) return '';
  const points = good.flatMap((block) => {
    const point = sweepPoint(block);
    return point ? [{ strategy: block.strategy, point }] : [];
  });
  const rowsOf = (which: (point: SweepPoint) => boolean): Row[] =>
    strategiesOf('capacity')
      .map((strategy) => ({
        strategy,
        points: points.filter((one) => one.strategy === strategy && which(one.point)).map(({ point }) => point),
      }))
      .filter((row) => row.points.length > 0);
  const byKeys = rowsOf(({ block }) => block.startsWith('capacity-keys-'));
  const byHold = rowsOf(({ block }) => block.startsWith('capacity-hold-'));
  const byBackoff = rowsOf(({ block }) => block.startsWith('capacity-backoff-'));
  const backoffs = values(byBackoff, ({ sweep }) => sweep.backoff ?? 1);
  const keys = values(byKeys, ({ sweep }) => sweep.keys);
  const holds = values(byHold, ({ sweep }) => sweep.holdMs);
  const boxes = [
    box(`The same ${rateOf(byKeys)} over ${inWords(keys)} ${counted(keys.at(-1), 'coupon')}`, byKeys, keys, (value) => `${value} ${counted(value, 'coupon')}`, ({ sweep }) => sweep.keys),
    box(`${rateOf(byHold)} at one coupon, and so much work in each turn`, byHold, holds, (value) => (value === 0 ? '0 ms, the baseline' : `${value} ms`), ({ sweep }) => sweep.holdMs),
    box(`${rateOf(byBackoff)} at one coupon, and other pauses between looks and retries`, byBackoff, backoffs, (value) => `${value} × the usual`, ({ sweep }) => sweep.backoff ?? 1),
  ]; // prettier-ignore
  return section('sweeps', 'Contention, hold time, back-off', 'One round each, so these are single figures without intervals. Cells are the p99 of the served in milliseconds; below it how many per second were served, and the share where not all were. The work is done by PostgreSQL at the end of the statement that issues, while the row is locked: once per turn, so a batch pays it once. Back-off is that of those who poll or retry: shorter pauses find a free turn sooner and ask more often.', boxes.join('')); // prettier-ignore
}

const values = (rows: readonly Row[], of: (point: SweepPoint) => number) =>
  [...new Set(rows.flatMap(({ points }) => points.map(of)))].toSorted((a, b) => a - b);

const inWords = (numbers: readonly number[]) =>
  numbers.length < 2 ? numbers.join('') : `${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1)}`;

const counted = (number: number | undefined, noun: string) => (number === 1 ? noun : `${noun}s`);

const rateOf = (rows: readonly Row[]) => `${figure(rows[0]?.points[0]?.rate ?? 0)} arrivals/s`;

function box(
  title: string,
  rows: readonly Row[],
  columns: readonly number[],
  head: (value: number) => string,
  of: (point: SweepPoint) => number,
): string {
  if (rows.length === 0) return '';
  const cell = (value: number) => (row: Row) => {
    const point = row.points.find((one) => of(one) === value);
    if (!point) return '';
    const share = point.served / Math.max(1, point.requests);
    const served = share < 0.995 ? `, ${percent(share)} served` : '';
    return `${point.p99 === undefined ? 'none served' : figure(point.p99)}<small>${figure(point.goodput)}/s${served}</small>`;
  };
  const content = table<Row>(title, [
    { head: 'strategy', cell: ({ strategy }) => name(strategy) },
    ...columns.map((value) => ({ head: head(value), number: true, cell: cell(value) })),
  ], rows); // prettier-ignore
  return `<figure>${content}</figure>`;
}
