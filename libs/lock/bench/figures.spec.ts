import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Measured } from './block.js';
import { figuresOf, overlapsOf, turnsOf } from './figures.js';
import { inversionsOf } from './inversions.js';
import { rounded, spread } from './numbers.js';

const turn = (asked: number, granted: number, ended = granted) => ({ process: 0, asked, granted, ended });

const measured = (turns: number[][], more: Partial<Measured> = {}): Measured => ({
  turns: Float64Array.from(turns.flat()),
  failures: {},
  starved: 0,
  cpuMs: 0,
  doneAt: 200,
  ...more,
});

describe('two holders at once', () => {
  it('are a grant while another body runs, in whichever process it is', () => {
    expect(overlapsOf(turnsOf([measured([[0, 1, 5]]), measured([[0, 4, 6]])]))).toBe(1);
  });

  it('are not a grant at the very moment at which the other body ends', () => {
    expect(overlapsOf([turn(0, 1, 5), turn(0, 5, 6)])).toBe(0);
  });

  it('are found behind a short body that lies within a long one', () => {
    expect(overlapsOf([turn(0, 1, 50), turn(0, 2, 3), turn(0, 4, 5)])).toBe(2);
  });
});

describe('the order of grants', () => {
  it('has no inversion where who came first is served first', () => {
    expect(inversionsOf([turn(0, 10), turn(2, 11), turn(4, 12)])).toEqual({ pairs: 3, inverted: 0 });
  });

  it('is all inversions where who came last is served first', () => {
    expect(inversionsOf([turn(0, 12), turn(2, 11), turn(4, 10)])).toEqual({ pairs: 3, inverted: 3 });
  });

  it('is of those who waited at the same time: one who was served before the other came is no pair', () => {
    expect(inversionsOf([turn(0, 1), turn(5, 6)])).toEqual({ pairs: 0, inverted: 0 });
  });

  it('does not judge those who came within a millisecond of each other', () => {
    expect(inversionsOf([turn(0, 12), turn(0.9, 11)])).toEqual({ pairs: 0, inverted: 0 });
  });

  it('is counted as by comparing every pair', () => {
    const anyTurns = fc.array(fc.tuple(fc.nat(40), fc.nat(40)), { maxLength: 40 });
    fc.assert(
      fc.property(anyTurns, (raw) => {
        // No two grants at the same time: one lock.
        const turns = raw.map(([asked, wait], at) => turn(asked / 2, asked / 2 + wait / 2 + (at + 1) / 1000));
        const both = turns.flatMap((one) =>
          turns
            .filter((other) => one.asked < other.asked - 1 && one.granted > other.asked)
            .map((other) => [one, other]),
        );
        const inverted = both.filter(([one, other]) => one!.granted > other!.granted);
        expect(inversionsOf(turns)).toEqual({ pairs: both.length, inverted: inverted.length });
      }),
    );
  });
});

describe('the figures of a block', () => {
  const times = { startAt: 0, beginAt: 100, endAt: 200 };

  it('leave out what was granted while it warmed up, but not two holders at once', () => {
    const figures = figuresOf([measured([[0, 50, 60], [0, 55, 58], [60, 110, 120], [60, 130, 140]])], times, 0); // prettier-ignore
    expect([figures.turns, figures.perSecond, figures.overlaps]).toEqual([2, 20, 1]);
  });

  it('have the gap from the end of a body to the next grant, across processes', () => {
    const figures = figuresOf([measured([[0, 110, 120]]), measured([[0, 123, 130]])], times, 0);
    expect(figures.gapMs).toEqual({ p50: 3, p99: 3 });
  });

  it('add up failures and waiters without a turn, and share CPU time among the turns', () => {
    const one = measured([[0, 110, 111]], { failures: { slow: 2 }, starved: 3, cpuMs: 4 });
    const other = measured([[0, 120, 121]], { failures: { slow: 1, odd: 1 }, starved: 1, cpuMs: 2 });
    const { failures, starved, nodeCpuUs, redisCpuUs } = figuresOf([one, other], times, 1);
    expect([failures, starved, nodeCpuUs, redisCpuUs]).toEqual([{ slow: 3, odd: 1 }, 4, 3000, 500]);
  });

  it('of a burst are by the time it took, not by the time it was given', () => {
    const burst = measured([[0, 0, 1], [0, 9, 10]], { doneAt: 10 }); // prettier-ignore
    expect(figuresOf([burst], { startAt: 0, beginAt: 0, endAt: 4000 }, 0).perSecond).toBe(200);
  });

  it('say nothing where nothing was granted', () => {
    const figures = figuresOf([measured([])], times, 1);
    expect([figures.turns, figures.perSecond, figures.gapMs.p50, figures.nodeCpuUs]).toEqual([0, 0, NaN, NaN]);
  });
});

describe('a figure', () => {
  it('has three digits, and none where it is unknown', () => {
    expect([0.123, 4.5678, 45.678, 456.78, 12_345.6, NaN].map(rounded)).toEqual(['0.12', '4.57', '45.7', '457', '12 346', '-']); // prettier-ignore
  });

  it('of several rounds is their median, without those that had none', () => {
    expect(spread([3, NaN, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
  });
});
