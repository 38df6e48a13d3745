// What the terminal shows: one line per strategy.
import type { BlockResult } from './block.js';
import { kindOf, strategiesOf } from './plan.js';
import type { ScenarioName } from './plan.js';
import { percentile } from './statistics.js';
import { isRed } from './verdict.js';
import type { Verdict } from './verdict.js';

const median = (values: (number | undefined)[]) =>
  percentile(
    values.filter((value) => value !== undefined),
    50,
  );
export const ms = (value: number | undefined) =>
  value === undefined ? '-' : value < 10 ? value.toFixed(1) : String(Math.round(value));

/** Red before oversold before exact: one bad block of five is a bad strategy. */
const gravity: Verdict[] = ['breach', 'blind', 'refused', 'oversold', 'exact'];
export function worstOf(blocks: readonly Pick<BlockResult, 'verdict'>[]): Verdict | undefined {
  return gravity.find((verdict) => blocks.some((block) => block.verdict === verdict));
}

export function wordOf(verdict: Verdict | undefined): string {
  if (verdict === undefined) return 'not run';
  return verdict === 'oversold' || isRed(verdict) ? verdict.toUpperCase() : verdict;
}

export function summaryTable(scenario: ScenarioName, blocks: readonly BlockResult[]): string {
  const request = kindOf(scenario) === 'issue' ? 'issue' : scenario === 'pay-expire-race' ? 'pay' : 'order';
  const rows = strategiesOf(scenario)
    .map((strategy) => ({ strategy, own: blocks.filter((block) => block.strategy === strategy) }))
    .filter(({ own }) => own.length > 0)
    .map(({ strategy, own }) => rowOf(strategy, own, request));
  const header = scenario === 'capacity' ? kneeHeader : saleHeader;
  return columns([header, ...rows]);
}

const saleHeader = [
  'strategy',
  'verdict',
  'given',
  'sold out in',
  'p50',
  'p99 of the served',
  'p99 of the refused',
  'retry later',
  'trips',
  'deadlocks',
];
const kneeHeader = ['strategy', 'verdict', 'knee', 'gave way'];

function rowOf(strategy: string, own: BlockResult[], request: string): string[] {
  const verdict = wordOf(worstOf(own));
  if (own.some(({ knee }) => knee)) {
    const rate = median(own.map(({ knee }) => knee?.rate));
    return [strategy, verdict, `${ms(rate)}/s`, own.map(({ knee }) => knee?.why ?? '').at(-1)!];
  }
  const served = own.map(({ figures }) => figures.latency[`${request}: acknowledged`]);
  const refusal = request === 'issue' ? 'COUPON_SOLD_OUT' : 'OUT_OF_STOCK';
  const refused = own.map(({ figures }) => figures.latency[`${request}: ${refusal}`]?.p99);
  const soldOutMs = median(own.map(({ figures }) => figures.soldOutMs));
  const last = own.at(-1)!;
  return [
    strategy,
    verdict,
    last.supply === undefined ? `${last.figures.outcomes.acknowledged}` : `${last.sold} of ${last.supply}`,
    soldOutMs === undefined ? '-' : `${(soldOutMs / 1000).toFixed(2)} s`,
    `${ms(median(served.map((one) => one?.p50)))} ms`,
    `${ms(median(served.map((one) => one?.p99)))} ms`,
    `${ms(median(refused))} ms`,
    String(own.reduce((sum, { figures }) => sum + figures.outcomes.contended, 0)),
    String(own.reduce((sum, { cost }) => sum + (cost.safetyNetTrips ?? 0), 0)),
    String(own.reduce((sum, { cost }) => sum + cost.deadlocks, 0)),
  ];
}

export function columns(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
