import { describe, expect, it } from 'vitest';
import type { PhaseFigures } from './figures.js';
import { firstRates, kneeOf, nextRates } from './knee.js';

const good = (rate: number): PhaseFigures => ({
  name: `at-${rate}`,
  rate,
  requests: rate * 2,
  acknowledged: rate * 2,
  contended: 0,
  p50: 3,
  p99: 20,
  goodput: rate,
});
const slow = (rate: number): PhaseFigures => ({ ...good(rate), p99: 900 });
const range = { from: 50, upTo: 800 };

describe('the knee', () => {
  it('is the largest load before the first that was not served in time', () => {
    expect(kneeOf([good(50), good(100), slow(200), good(400)], 2)).toEqual({
      rate: 100,
      gaveWayAt: 200,
      why: 'p99 900 ms',
    });
    expect(kneeOf([good(50), good(100)], 2)).toEqual({ rate: 100, why: 'did not give way' });
  });

  it('is below the first step, as far as that was served, where even that was too much', () => {
    expect(kneeOf([{ ...slow(50), goodput: 31.7 }], 2)).toMatchObject({ rate: 31, gaveWayAt: 50 });
  });

  it('below the first step is an estimate from what was served, and below that step however much that was', () => {
    expect(kneeOf([{ ...slow(50), goodput: 50 }], 2)).toMatchObject({ rate: 49, gaveWayAt: 50, belowFirst: true });
    expect(kneeOf([good(50), slow(100)], 2).belowFirst).toBeUndefined();
  });

  it('is not fixed by one bad second at the first step: that is tried once more, and the search goes on', () => {
    const hiccup = [{ ...slow(50), goodput: 50 }, good(100)];
    expect(nextRates(range, hiccup, 2)).toEqual([50]);
    expect(nextRates(range, [...hiccup, good(50)], 2)).toEqual([200, 400]);
    expect(nextRates(range, [...hiccup, slow(50)], 2)).toEqual([]);
  });

  it('takes drops, refusals and silence for giving way: an empty latency is not a fast one', () => {
    expect(kneeOf([good(50), { ...good(100), requests: 150, acknowledged: 150 }], 2).why).toBe(
      '50 arrivals were dropped',
    );
    expect(kneeOf([good(50), { ...good(100), acknowledged: 100 }], 2).why).toBe('100 of 200 were not served');
    expect(kneeOf([good(50), { ...good(100), p99: undefined }], 2).gaveWayAt).toBe(100);
  });

  it('does not take one bad second for the strategy: what gave way is tried once more', () => {
    const once = [good(50), good(100), slow(200), good(400)];
    expect(nextRates(range, once, 2)).toEqual([200]);
    expect(kneeOf([...once, good(200)], 2)).toEqual({ rate: 400, why: 'did not give way' });
    expect(nextRates(range, [...once, good(200)], 2)).toEqual([800]);
    expect(kneeOf([...once, slow(200)], 2)).toMatchObject({ rate: 100, gaveWayAt: 200 });
  });

  it('is searched by doubling, then between the last good step and the first bad one, then no more', () => {
    expect(firstRates(range)).toEqual([50, 100]);
    expect(nextRates(range, [good(50), good(100)], 2)).toEqual([200, 400]);
    const bent = [good(50), good(100), good(200), slow(400), slow(400)];
    expect(nextRates(range, bent, 2)).toEqual([250, 300, 350]);
    expect(nextRates(range, [...bent, good(250), slow(300), slow(350)], 2)).toEqual([]);
    expect(nextRates(range, [slow(50), slow(100), slow(50)], 2)).toEqual([]);
    expect(nextRates(range, [50, 100, 200, 400, 800].map(good), 2)).toEqual([]);
  });
});
