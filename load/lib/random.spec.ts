import { describe, expect, it } from 'vitest';
import { seeded, shuffled, zipf } from './random.js';

const draws = (count: number, draw: () => number) => Array.from({ length: count }, draw);

describe('seeded randomness', () => {
  it('repeats itself for the same seed and differs for another', () => {
    expect(draws(5, seeded(7))).toEqual(draws(5, seeded(7)));
    expect(draws(5, seeded(7))).not.toEqual(draws(5, seeded(8)));
  });

  it('is uniform in [0, 1)', () => {
    const values = draws(20_000, seeded(1));
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...values)).toBeLessThan(1);
    expect(values.reduce((sum, value) => sum + value, 0) / values.length).toBeCloseTo(0.5, 1);
  });

  it('shuffles without losing or repeating anything, and leaves what it was given alone', () => {
    const items = [1, 2, 3, 4, 5, 6, 7, 8];
    const result = shuffled(items, seeded(3));
    expect(result).not.toEqual(items);
    expect(result.toSorted((a, b) => a - b)).toEqual(items);
  });

  it('zipf makes the first twice as likely as the second, and never leaves its range', () => {
    const draw = zipf(1000, 1);
    const random = seeded(5);
    const counts = Array.from({ length: 1000 }, () => 0);
    for (let i = 0; i < 50_000; i += 1) counts[draw(random)]! += 1;
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(50_000);
    expect(counts[0]! / counts[1]!).toBeGreaterThan(1.7);
    expect(counts[0]! / counts[1]!).toBeLessThan(2.3);
  });
});
