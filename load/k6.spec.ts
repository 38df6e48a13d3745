import { describe, expect, it } from 'vitest';
import { counterOf, findK6 } from './k6.js';

describe('k6', () => {
  it('that is named by K6_BIN but does not run is an error, not a reason to take another', () => {
    expect(() => findK6({ K6_BIN: '/nowhere/k6', PATH: process.env['PATH'] })).toThrow('K6_BIN=/nowhere/k6');
  });

  it('that is not to be had is an error which says how to get it', () => {
    expect(() => findK6({ PATH: '/nowhere', HOME: '/nowhere' })).toThrow(
      /install it[\s\S]*K6_BIN[\s\S]*Go[\s\S]*Docker/,
    );
  });

  it('tells its counters in both shapes of its summary, and none where it has none', () => {
    expect(counterOf({ metrics: { arrived: { values: { count: 7, rate: 1 } } } }, 'arrived')).toBe(7);
    expect(counterOf({ results: { metrics: [{ name: 'arrived', values: { count: 7 } }] } }, 'arrived')).toBe(7);
    expect(counterOf({ metrics: {} }, 'arrived')).toBeUndefined();
    expect(counterOf({}, 'arrived')).toBeUndefined();
  });
});
