import { describe, expect, it } from 'vitest';
import { sampleSweep } from '../test/load/sample-run.js';
import { ofItsOwn } from './backoff.js';
import { sweepSection } from './report/sections/sweep.js';
import { sweepPlans, sweepPoint, sweepTable, sweptHolds } from './sweep.js';

const plans = sweepPlans(
  ['atomic', 'spin'],
  { keys: [1, 10], holds: [20, 100], backoffs: [0.25] },
  { keys: 90, hold: 30 },
  7,
);

describe('a sweep', () => {
  it('has one block per strategy and value, each named once, at the load of its question', () => {
    expect(plans.map(({ id }) => id).toSorted()).toEqual([
      // atomic waits for nobody.
      'capacity-backoff-0.25.spin.01',
      'capacity-hold-100.atomic.01',
      'capacity-hold-100.spin.01',
      'capacity-hold-20.atomic.01',
      'capacity-hold-20.spin.01',
      'capacity-keys-1.atomic.01',
      'capacity-keys-1.spin.01',
      'capacity-keys-10.atomic.01',
      'capacity-keys-10.spin.01',
    ]);
    expect(plans.find(({ id }) => id === 'capacity-keys-10.spin.01')).toMatchObject({
      mode: 'sweep',
      rates: [90],
      sweep: { keys: 10, holdMs: 0 },
    });
    expect(plans.find(({ id }) => id === 'capacity-hold-20.spin.01')).toMatchObject({
      rates: [30],
      sweep: { keys: 1, holdMs: 20 },
    });
  });

  it('shows a line per block in the terminal and a cell per value on the page', () => {
    const blocks = plans.map(sampleSweep);
    const lines = sweepTable(blocks).split('\n');
    expect(lines).toHaveLength(10);
    expect(lines.slice(1, 5).map((line) => line.split(/ +/)[0])).toEqual(['atomic', 'spin', 'atomic', 'spin']);
    expect(lines[0]).toMatch(/^strategy +verdict +coupons +work held/);
    const page = sweepSection(blocks);
    expect(page).toContain('over 1 and 10 coupons');
    expect(page).toContain('One round each');
    expect(page).toContain('>10 coupons<');
    expect(page).toContain('>100 ms<');
    expect(page).toContain('>0.25 × the usual<');
    expect(page).not.toMatch(/NaN|undefined/);
  });

  it('asks for one coupon without work twice, under two names: at the load of its keys and at that of its hold', () => {
    const both = sweepPlans(['spin'], { keys: [1], holds: [0, 5] }, { keys: 150, hold: 30 }, 7);
    expect(both.map(({ id, rates }) => [id, rates])).toEqual([
      ['capacity-keys-1.spin.01', [150]],
      ['capacity-hold-0.spin.01', [30]],
      ['capacity-hold-5.spin.01', [30]],
    ]);
    expect(sweptHolds).toContain(0);
    const page = sweepSection(both.map(sampleSweep));
    expect(page).toContain('>0 ms, the baseline<');
    expect(page).toContain('over 1 coupon<');
    const lines = sweepTable(both.map(sampleSweep)).split('\n').slice(1);
    expect(lines.map((line) => /\d+\/s/.exec(line)?.[0])).toEqual(['150/s', '30/s', '30/s']);
  });

  it('of back-off is for instances of its own: they read it when they start', () => {
    expect(plans.filter(ofItsOwn).map(({ sweep }) => sweep)).toEqual([{ keys: 1, holdMs: 0, backoff: 0.25 }]);
  });

  it('leaves out what was refused and what is no sweep', () => {
    const [block] = plans.map(sampleSweep);
    expect(sweepSection([{ ...block!, verdict: 'refused' }])).toBe('');
    expect(sweepPoint({ ...block!, sweep: undefined })).toBeUndefined();
  });
});
