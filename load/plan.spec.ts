import { describe, expect, it } from 'vitest';
import { usersOf } from './lib/arrivals.js';
import {
  curveRates,
  issueStrategies,
  loadsOf,
  profileNames,
  roundOf,
  scenarioNames,
  sizeOf,
  strategiesOf,
} from './plan.js';

describe('the plan', () => {
  it('has every strategy once per round, in another order each round, the same for the same seed', () => {
    const strategies = strategiesOf('coupon-flash');
    const orders = [1, 2, 3].map((round) =>
      roundOf('coupon-flash', strategies, round, 7).map(({ strategy }) => strategy),
    );
    for (const order of orders) expect(order.toSorted()).toEqual([...issueStrategies].toSorted());
    expect(orders[0]).not.toEqual(orders[1]);
    expect(roundOf('coupon-flash', strategies, 1, 7)).toEqual(roundOf('coupon-flash', strategies, 1, 7));
    expect(roundOf('coupon-flash', strategies, 1, 8)).not.toEqual(roundOf('coupon-flash', strategies, 1, 7));
  });

  it('names every block once', () => {
    const all = scenarioNames.flatMap((scenario) =>
      [1, 2].flatMap((round) => roundOf(scenario, strategiesOf(scenario), round, 1)),
    );
    const curve = roundOf('capacity', strategiesOf('capacity'), 1, 1, 'curve');
    const ids = [...all, ...curve].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('takes the loads of the curve from the slowest knee, one of them above it', () => {
    expect(curveRates([400, 100, 1600])).toEqual([25, 50, 75, 90, 120]);
    expect(curveRates([1])).toEqual([1]);
    expect(curveRates([])).toEqual([]);
  });

  it('takes the other loads from the knees too: a rush for the median, no more coupons than the slowest can sell', () => {
    const loads = loadsOf([400, 60, 200, 1600], 100);
    expect(loads).toEqual({ slowestKnee: 60, medianKnee: 400, orderKnee: 100 });
    const flash = sizeOf('coupon-flash', 'standard', [], loads);
    expect(flash.phases.at(-1)).toMatchObject({ name: 'burst', rate: 600 });
    expect(flash.supply).toBe(240);
    expect(sizeOf('coupon-flash', 'standard', [], loadsOf([100, 150])).phases.at(-1)!.rate).toBe(300);
    expect(sizeOf('order-multi-item', 'standard', [], loads).phases[0]!.rate).toBe(80);
    expect(sizeOf('order-hot-option', 'standard', [], loads).phases[0]!.rate).toBe(200);
    expect(sizeOf('coupon-duplicate', 'standard', [], loads).phases[0]!.rate).toBe(15);
    expect(sizeOf('pay-expire-race', 'standard', [], loads).phases[0]!.rate).toBe(20);
    expect(loadsOf([])).toBeUndefined();
    expect(sizeOf('coupon-flash', 'standard', [], undefined)).toEqual(sizeOf('coupon-flash', 'standard'));
  });

  it.each(profileNames)('of profile %s sells far less than is asked for', (profile) => {
    for (const scenario of ['coupon-flash', 'bleed', 'order-hot-option'] as const) {
      const { phases, supply } = sizeOf(scenario, profile);
      const asked = usersOf(phases.filter(({ name }) => !name.startsWith('probe')));
      expect(supply! * 3).toBeLessThan(asked);
    }
  });

  it('probes before the sale and all through it', () => {
    const { phases } = sizeOf('bleed', 'standard');
    const [before, during] = ['probe-before', 'probe-during'].map((name) =>
      phases.find((phase) => phase.name === name)!,
    );
    const steady = phases.find(({ name }) => name === 'steady')!;
    const burst = phases.find(({ name }) => name === 'burst')!;
    expect(before!.startSeconds + before!.seconds).toBe(steady.startSeconds);
    expect(during!.startSeconds).toBe(steady.startSeconds);
    expect(during!.startSeconds + during!.seconds).toBe(burst.startSeconds + burst.seconds);
  });
});
