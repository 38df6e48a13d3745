import { describe, expect, it } from 'vitest';
import { arrivalScenario, endOf, flashSale, inSequence, steps, usersOf } from './arrivals.js';

describe('arrival shapes', () => {
  it('a flash sale steps up at once: the burst begins where the steady phase ends', () => {
    const [steady, burst] = flashSale({ steadyRate: 20, steadySeconds: 2, rate: 500, seconds: 3 });
    expect(steady).toMatchObject({ name: 'steady', startSeconds: 0, rate: 20 });
    expect(burst).toMatchObject({ name: 'burst', startSeconds: 2, rate: 500 });
    expect(endOf([steady!, burst!])).toBe(5);
  });

  it('numbers arrivals through all phases, so that no two are the same user', () => {
    const phases = steps([10, 100, 1000], 2, 1);
    // More than rate x seconds each: k6 has been seen to start a few more.
    const each = [20 + 11, 200 + 20, 2000 + 110] as const;
    expect(phases.map(({ first }) => first)).toEqual([0, each[0], each[0] + each[1]]);
    expect(usersOf(phases)).toBe(each[0] + each[1] + each[2]);
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
    expect(arrivalScenario(phase!, 'grab', 10_000)).toEqual({
      executor: 'constant-arrival-rate',
      exec: 'grab',
      rate: 200,
      timeUnit: '1s',
      startTime: '0ms',
      duration: '1500ms',
      preAllocatedVUs: 330,
      maxVUs: 330,
      gracefulStop: '20s',
    });
    expect(arrivalScenario(phase!, 'grab', 100).maxVUs).toBe(100);
    expect(() => arrivalScenario({ ...phase!, rate: 0.5 }, 'grab', 100)).toThrow('0.5');
    expect(() => arrivalScenario({ ...phase!, seconds: 0.5 }, 'grab', 100)).toThrow('a second');
  });
});
