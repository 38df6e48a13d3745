import { describe, expect, it } from 'vitest';
import { seeded, shuffled } from './lib/random.js';
import { compare, distribution, inversionRate, medianInterval, percentile, sampled } from './statistics.js';

describe('percentiles', () => {
  it('are those of what was seen, not of a formula over the mean', () => {
    // 99 fast answers and one stall: mean x 1.6 would be 33, the 99th percentile is what the unlucky one waited.
    const values = [...Array.from({ length: 99 }, () => 1), 2000];
    expect(percentile(values, 50)).toBe(1);
    expect(percentile(values, 100)).toBe(2000);
    expect(percentile([1, 2, 3, 4], 50)).toBe(2.5);
    expect(distribution(values)).toMatchObject({ count: 100, p50: 1, p90: 1, max: 2000 });
    expect(distribution(values)!.curve).toHaveLength(51);
  });

  it('of nothing are undefined: an empty metric is no 0 ms', () => {
    expect(percentile([], 99)).toBeUndefined();
    expect(distribution([])).toBeUndefined();
    expect(medianInterval([])).toBeUndefined();
    expect(inversionRate([])).toBeUndefined();
  });

  it('leave what they were given in its order', () => {
    const values = [3, 1, 2];
    percentile(values, 50);
    distribution(values);
    expect(values).toEqual([3, 1, 2]);
  });
});

describe('a comparison of paired blocks', () => {
  it('sees a clear difference, with an interval around it', () => {
    const comparison = compare([200, 210, 190, 205, 198], [100, 104, 97, 101, 99])!;
    expect(comparison).toMatchObject({ pairs: 5, measurable: true, why: 'measurable' });
    expect(comparison.effect.low).toBeGreaterThan(0.9);
    expect(comparison.effect.high).toBeLessThan(1.1);
  });

  it('pairs within a round, so that a slow minute of the machine is no difference', () => {
    const rounds = [100, 50, 200, 80, 120];
    expect(
      compare(
        rounds.map((x) => x * 2),
        rounds,
      )!.effect,
    ).toEqual({ low: 1, mid: 1, high: 1 });
  });

  it('says "no measurable difference" where the interval includes 0', () => {
    expect(compare([100, 120, 90, 130, 80], [110, 100, 100, 110, 100])).toMatchObject({
      measurable: false,
      why: 'the interval includes 0',
    });
  });

  it('says so too where the effect is under 5 %, however sure it is', () => {
    expect(compare([103, 103, 103, 103, 103], [100, 100, 100, 100, 100])).toMatchObject({
      measurable: false,
      why: 'less than 5 %',
    });
  });

  it('claims nothing from fewer than five pairs', () => {
    const [slow, fast] = [
      [900, 900, 900, 900],
      [1, 1, 1, 1],
    ];
    expect(compare(slow, fast)).toMatchObject({ measurable: false, why: 'too few repeats' });
    expect(compare([...slow, 900], [...fast, 1])).toMatchObject({ measurable: true });
  });

  it('leaves out rounds where a side has no figure, and has no result without any', () => {
    expect(compare([200, undefined, 200, 200], [100, 100, undefined, 100])!.pairs).toBe(2);
    expect(compare([undefined, 5], [1, 0])).toBeUndefined();
    expect(compare([], [])).toBeUndefined();
  });

  it('gives the same interval for the same figures, every time', () => {
    const a = [1, 5, 2, 8, 3];
    expect(medianInterval(a)).toEqual(medianInterval(a));
  });
});

describe('order inversions', () => {
  const inOrder = Array.from({ length: 200 }, (_, place) => ({ at: place, serial: place + 1 }));

  it('are 0 when first come was first served, 1 when it was the other way round', () => {
    expect(inversionRate(shuffled(inOrder, seeded(1)))).toBe(0);
    expect(inversionRate(inOrder.map(({ at, serial }) => ({ at, serial: 1000 - serial })))).toBe(1);
  });

  it('are about one half when serials are drawn by lot', () => {
    const lot = shuffled(inOrder, seeded(9)).map(({ serial }, at) => ({ at, serial }));
    expect(inversionRate(lot)).toBeGreaterThan(0.4);
    expect(inversionRate(lot)).toBeLessThan(0.6);
  });

  it('do not blame an order among arrivals of one millisecond', () => {
    expect(inversionRate([9, 3, 7].map((serial) => ({ at: 5, serial })))).toBe(0);
  });
});

describe('a sample', () => {
  it('is everything where there is little, and never more than asked', () => {
    expect(sampled([1, 2, 3], 5)).toEqual([1, 2, 3]);
    expect(
      new Set(
        sampled(
          Array.from({ length: 100 }, (_, n) => n),
          10,
        ),
      ).size,
    ).toBe(10);
  });
});
