// Parameters are part of the result: the same load over 1, 10 and 100 coupons, with 0 to 100 ms of work in the critical
// section, and with other pauses of those who poll. Plans and the terminal's table; pure.
import { roundOf, strategiesOf } from './plan.js';
import type { BlockPlan, Sweep } from './plan.js';
import { columns, ms, wordOf } from './summary.js';
import type { BlockResult } from './block.js';

export const sweptKeys = [1, 10, 100];
export const sweptHolds = [0, 5, 20, 100];
export const sweptBackoffs = [0.25, 1, 4];
/** Those that sleep and look again. */
const backingOff = ['optimistic', 'spin', 'adaptive'];

export interface SweepRates {
  /** Per second over all coupons, and for the sweep of back-off: what strains one coupon should be nothing to a hundred. */
  keys: number;
  /** Per second at one coupon: few enough that 100 ms of work for each leave nobody waiting beyond the deadline. */
  hold: number;
}

export function sweepPlans(
  strategies: readonly string[],
  wanted: { keys?: readonly number[]; holds?: readonly number[]; backoffs?: readonly number[] },
  rates: SweepRates,
  seed: number,
): BlockPlan[] {
  const of = (name: string, sweep: Sweep, rate: number, among = strategies) =>
    roundOf('capacity', among, 1, seed, 'sweep', [rate]).map((plan) => ({
      ...plan,
      // By the question, not by the values: one coupon without work is asked for twice, at two loads.
      id: `capacity-${name}.${plan.strategy}.01`,
      sweep,
    }));
  return [
    ...(wanted.keys ?? []).flatMap((keys) => of(`keys-${keys}`, { keys, holdMs: 0 }, rates.keys)),
    ...(wanted.holds ?? []).flatMap((holdMs) => of(`hold-${holdMs}`, { keys: 1, holdMs }, rates.hold)),
    ...(wanted.backoffs ?? []).flatMap((backoff) =>
      of(
        `backoff-${backoff}`,
        { keys: 1, holdMs: 0, backoff },
        rates.keys,
        strategies.filter((name) => backingOff.includes(name)),
      ),
    ),
  ];
}

export interface SweepPoint {
  rate: number;
  sweep: Sweep;
  verdict: BlockResult['verdict'];
  served: number;
  requests: number;
  p50?: number;
  p99?: number;
  /** Served per second, until the last of them was answered. */
  goodput: number;
  block: string;
}

export function sweepPoint({ id, sweep, verdict, figures }: BlockResult): SweepPoint | undefined {
  const [phase] = figures.phases;
  if (!sweep || !phase) return undefined;
  const { rate, acknowledged, requests, p50, p99, goodput } = phase;
  return {
    rate, sweep, verdict, served: acknowledged, requests, goodput, block: id,
    ...(p50 !== undefined && { p50 }), ...(p99 !== undefined && { p99 }),
  }; // prettier-ignore
}

export function sweepTable(blocks: readonly BlockResult[]): string {
  const head = [
    'strategy',
    'verdict',
    'coupons',
    'work held',
    'back-off',
    'offered',
    'served',
    'p50',
    'p99',
    'served per second',
  ];
  const order = strategiesOf('capacity');
  const kinds = ['keys', 'hold', 'backoff'];
  const kind = ({ id }: BlockResult) => kinds.findIndex((name) => id.startsWith(`capacity-${name}-`));
  const value = ({ sweep }: BlockResult) =>
    (sweep?.backoff ?? 0) * 1e10 + (sweep?.holdMs ?? 0) * 1e6 + (sweep?.keys ?? 0) * 100;
  const place = (block: BlockResult) => kind(block) * 1e13 + value(block) + order.indexOf(block.strategy);
  const rows = blocks
    .toSorted((a, b) => place(a) - place(b))
    .flatMap((block) => {
      const point = sweepPoint(block);
      if (!point) return [];
      const { sweep, verdict, rate, served, requests, p50, p99, goodput } = point;
      return [[block.strategy, wordOf(verdict), String(sweep.keys), `${sweep.holdMs} ms`, `${sweep.backoff ?? 1} x`, `${rate}/s`, `${served} of ${requests}`, `${ms(p50)} ms`, `${ms(p99)} ms`, ms(goodput)]]; // prettier-ignore
    });
  return columns([head, ...rows]);
}
