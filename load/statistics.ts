// What the figures of a run allow to be said. No distribution is assumed: percentiles of what was seen, bootstrap intervals
// of what differs, and "no measurable difference" where that is the finding.
import { seeded, shuffled } from './lib/random.js';

/** The p-th percentile (0..100), linear between neighbours; undefined of nothing, because the latency of nothing is not 0. */
export function percentile(values: readonly number[], p: number): number | undefined {
  if (values.length === 0) return undefined;
  return ofSorted(
    values.toSorted((a, b) => a - b),
    p,
  );
}

function ofSorted(sorted: readonly number[], p: number): number {
  const place = (p / 100) * (sorted.length - 1);
  const below = Math.floor(place);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (high - low) * (place - below);
}

export interface Distribution {
  count: number;
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
  /** The value at 0, 2, 4 ... 100 %, enough to draw the curve. */
  curve: number[];
}

export function distribution(values: readonly number[]): Distribution | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (p: number) => round(ofSorted(sorted, p));
  return {
    count: sorted.length,
    mean: round(sorted.reduce((sum, value) => sum + value, 0) / sorted.length),
    p50: at(50),
    p90: at(90),
    p99: at(99),
    max: at(100),
    curve: Array.from({ length: 51 }, (_, step) => at(step * 2)),
  };
}

const round = (value: number) => Math.round(value * 100) / 100;

export interface Interval {
  low: number;
  mid: number;
  high: number;
}

const resamples = 1000;

/** The median of `values` with its 95 % bootstrap interval. The seed is fixed: the same figures give the same report. */
export function medianInterval(values: readonly number[], seed = 1): Interval | undefined {
  if (values.length === 0) return undefined;
  const random = seeded(seed);
  const mid = percentile(values, 50)!;
  if (values.every((value) => value === values[0])) return { low: mid, mid, high: mid };
  const medians = Array.from({ length: resamples }, () => {
    const sample = values.map(() => values[Math.floor(random() * values.length)]!);
    return percentile(sample, 50)!;
  });
  return { low: percentile(medians, 2.5)!, mid, high: percentile(medians, 97.5)! };
}

export interface Comparison {
  pairs: number;
  /** a / b - 1, as the median over the pairs: 0.5 is "half as much again". */
  effect: Interval;
  measurable: boolean;
  why: 'measurable' | 'too few repeats' | 'the interval includes 0' | 'less than 5 %';
}

// With five the interval of a median goes from the smallest to the largest: 94 % of such intervals hold the true one. With
// three it would be three of four.
export const fewestPairs = 5;
const smallestEffect = 0.05;

/**
 * How much larger `a` is than `b`, in pairs that were measured in the same round, so that a slow minute of the machine
 * falls on both. Pairs without a figure on either side are left out: they say nothing about the difference.
 */
export function compare(
  a: readonly (number | undefined)[],
  b: readonly (number | undefined)[],
): Comparison | undefined {
  const ratios: number[] = [];
  for (const [place, left] of a.entries()) {
    const right = b[place];
    if (left === undefined || right === undefined || !(right > 0) || !Number.isFinite(left)) continue;
    ratios.push(left / right - 1);
  }
  const effect = medianInterval(ratios);
  if (!effect) return undefined;
  const why = verdictOf(effect, ratios.length);
  return { pairs: ratios.length, effect, measurable: why === 'measurable', why };
}

function verdictOf(effect: Interval, pairs: number): Comparison['why'] {
  if (pairs < fewestPairs) return 'too few repeats';
  if (effect.low <= 0 && effect.high >= 0) return 'the interval includes 0';
  return Math.abs(effect.mid) < smallestEffect ? 'less than 5 %' : 'measurable';
}

/**
 * How far an order was kept: the share of pairs that were served the other way round than they arrived (0: first come,
 * first served; 0.5: drawn by lot). Arrivals of one millisecond have no order among themselves and count as kept.
 */
export function inversionRate(served: readonly { at: number; serial: number }[]): number | undefined {
  if (served.length < 2) return undefined;
  const serials = served.toSorted((a, b) => a.at - b.at || a.serial - b.serial).map(({ serial }) => serial);
  const pairs = (serials.length * (serials.length - 1)) / 2;
  return countInversions(serials) / pairs;
}

function countInversions(values: number[]): number {
  if (values.length < 2) return 0;
  const middle = values.length >> 1;
  const left = values.slice(0, middle);
  const right = values.slice(middle);
  let inversions = countInversions(left) + countInversions(right);
  let l = 0;
  let r = 0;
  for (let place = 0; place < values.length; place += 1) {
    if (r >= right.length || (l < left.length && left[l]! <= right[r]!)) {
      values[place] = left[l]!;
      l += 1;
    } else {
      values[place] = right[r]!;
      inversions += left.length - l;
      r += 1;
    }
  }
  return inversions;
}

/** At most `limit` of them, drawn by the seed: enough for a picture. */
export function sampled<T>(items: readonly T[], limit: number, seed = 1): T[] {
  return items.length <= limit ? [...items] : shuffled(items, seeded(seed)).slice(0, limit);
}
