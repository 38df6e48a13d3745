import { describe, expect, it } from 'vitest';
import { figuresOf } from './figures.js';
import { flashSale } from './lib/arrivals.js';
import type { ClientRecord } from './lib/client-log.js';

const phases = flashSale({ steadyRate: 10, steadySeconds: 1, rate: 100, seconds: 1 });
const at = (ms: number) => 1_000_000 + ms;
const issued = (when: number, ms: number, serial: number, phase = 'burst', instance = 0): ClientRecord => ({
  phase, request: 'issue', at: at(when), ms, user: `u${serial}`, instance, status: 201, code: '',
  outcome: 'acknowledged', id: `c${serial}`, serial, lock: 1, hold: 2, db: 3,
}); // prettier-ignore
const soldOut = (when: number, ms: number): ClientRecord => ({
  phase: 'burst', request: 'issue', at: at(when), ms, user: 'late', instance: 0, status: 409,
  code: 'COUPON_SOLD_OUT', outcome: 'refused',
}); // prettier-ignore

describe('the figures of a block', () => {
  it('keep the latency of every answer apart', () => {
    const { latency, answers, outcomes } = figuresOf([issued(1000, 80, 1), soldOut(1001, 2), soldOut(1002, 2)], phases);
    expect(latency['issue: acknowledged']).toMatchObject({ count: 1, p50: 80 });
    expect(latency['issue: COUPON_SOLD_OUT']).toMatchObject({ count: 2, p50: 2 });
    expect(answers).toEqual({ 'issue: acknowledged': 1, 'issue: COUPON_SOLD_OUT': 2 });
    expect(outcomes).toEqual({ acknowledged: 1, refused: 2, contended: 0, unknown: 0, unexpected: 0 });
  });

  it('count the time to sell out from the opening of the doors to the answer of the last winner', () => {
    const records = [issued(0, 5, 1, 'steady'), issued(1000, 10, 2), issued(1100, 100, 3), soldOut(1200, 500)];
    expect(figuresOf(records, phases, 3)).toMatchObject({ soldOutMs: 200, goodput: 10 });
  });

  it('are sold out with the last one that there was: who was oversold after it makes the sale no longer', () => {
    const records = [issued(0, 5, 1, 'steady'), issued(1100, 300, 2), issued(1000, 50, 3), issued(1200, 900, 4)];
    expect(figuresOf(records, phases, 2)).toMatchObject({ soldOutMs: 50 });
    expect(figuresOf(records, phases, 3)).toMatchObject({ soldOutMs: 400 });
  });

  it('have no time to sell out where not everything was sold, and no latency where nothing was answered', () => {
    const figures = figuresOf([issued(1000, 10, 1)], phases, 2);
    expect(figures.soldOutMs).toBeUndefined();
    expect(figures.phases.find(({ name }) => name === 'steady')).toEqual({
      name: 'steady', rate: 10, requests: 0, acknowledged: 0, contended: 0, goodput: 0,
    }); // prettier-ignore
    const nothing = figuresOf([], phases, 2);
    expect(nothing.latency).toEqual({});
    expect(nothing.serverTiming).toBeUndefined();
    expect(nothing.fairness).toBeUndefined();
  });

  it('count inversions over all and within an instance, and leave replays out', () => {
    const records = [issued(1000, 5, 1, 'burst', 0), issued(1001, 5, 3, 'burst', 1), issued(1002, 5, 2, 'burst', 0)];
    const replay = { ...issued(1003, 5, 1), replayed: true };
    const { fairness } = figuresOf([...records, replay], phases);
    expect(fairness).toMatchObject({ inversions: 1 / 3, inversionsWithinInstance: 0 });
    expect(fairness!.sample).toEqual([
      { arrived: 1, serial: 1 },
      { arrived: 2, serial: 3 },
      { arrived: 3, serial: 2 },
    ]);
  });
});
