import { describe, expect, it } from 'vitest';
import { arrivalScenario, arrivalsOf, eased, endOf, flashSale, inSequence, steps, usersOf } from './arrivals.js';

describe('arrival shapes', () => {
  it('a flash sale steps up at once: the burst begins where the steady phase ends', () => {
    const [steady, burst] = flashSale({ steadyRate: 20, steadySeconds: 2, rate: 500, seconds: 3 });
    expect(steady).toMatchObject({ name: 'steady', startSeconds: 0, rate: 20 });
    expect(burst).toMatchObject({ name: 'burst', startSeconds: 2, rate: 500 });
    expect(endOf([steady!, burst!])).toBe(5);
  });

  it('numbers arrivals through all phases, so that no two are the same user', () => {
    const phases = steps([10, 100, 1000], 2, 1);
    expect(phases.map(({ first }) => first)).toEqual([0, 20, 220]);
    expect(usersOf(phases)).toBe(2220);
  });

  it('counts whole arrivals, whatever the floating point says of rate x seconds', () => {
    expect(arrivalsOf({ rate: 250, seconds: 1.2 })).toBe(300);
    expect(arrivalsOf({ rate: 1000, seconds: 1.1 })).toBe(1100);
    expect(arrivalsOf({ rate: 3, seconds: 0.5 })).toBe(2);
  });

  it('can be offered at half the rate, each arrival still a user of its own', () => {
    expect(eased(steps([10, 1], 2, 0), 0.5)).toMatchObject([
      { rate: 5, first: 0 },
      { rate: 1, first: 10 },
    ]);
  });

  it('leaves the asked pause before each step', () => {
    expect(steps([10, 20], 2, 0.5).map(({ startSeconds }) => startSeconds)).toEqual([0.5, 3]);
  });

  it('refuses a phase without arrivals: a run of nothing passes every threshold', () => {
    expect(() => inSequence([{ name: 'empty', rate: 0, seconds: 3 }])).toThrow('empty');
    expect(() => inSequence([{ name: 'instant', rate: 5, seconds: 0 }])).toThrow('instant');
    expect(() => inSequence([{ name: 'broken', rate: Number.NaN, seconds: 1 }])).toThrow('broken');
  });

  it('becomes an open arrival rate with its own function, all its users set up beforehand and time to finish', () => {
    const [phase] = inSequence([{ name: 'burst', rate: 200, seconds: 1.5 }]);
    const many = { maxWaiting: 10_000, dropsAllowed: false };
    expect(arrivalScenario(phase!, 'grab', many)).toEqual({
      executor: 'constant-arrival-rate',
      exec: 'grab',
      rate: 200,
      timeUnit: '1s',
      startTime: '0ms',
      // A second and a half to catch up in; what k6 starts beyond the phase's arrivals does nothing.
      duration: '3000ms',
      preAllocatedVUs: 300,
      maxVUs: 300,
      gracefulStop: '20s',
    });
    expect(arrivalScenario(phase!, 'grab', { ...many, maxWaiting: 100 }).maxVUs).toBe(100);
    expect(arrivalScenario(phase!, 'grab', { ...many, dropsAllowed: true }).duration).toBe('2000ms');
    expect(() => arrivalScenario({ ...phase!, rate: 0.5 }, 'grab', many)).toThrow('0.5');
    expect(() => arrivalScenario({ ...phase!, seconds: 0.5 }, 'grab', many)).toThrow('a second');
  });
});
