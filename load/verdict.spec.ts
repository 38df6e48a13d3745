import { describe, expect, it } from 'vitest';
import type { Figures } from './figures.js';
import type { ClientRecord } from './lib/client-log.js';
import { errorsOf, exitCodeOf, isRed, judge } from './verdict.js';
import type { Evidence } from './verdict.js';

const figures: Figures = {
  requests: 300,
  outcomes: { acknowledged: 60, refused: 240, contended: 0, unknown: 0, unexpected: 0 },
  answers: { 'issue: acknowledged': 60, 'issue: COUPON_SOLD_OUT': 240 },
  latency: { 'issue: acknowledged': { count: 60, mean: 5, p50: 5, p90: 6, p99: 9, max: 9, curve: [] } },
  phases: [],
};
const good: Evidence = {
  scenario: 'coupon-flash',
  strategy: 'atomic',
  k6: { exitCode: 0, arrived: 300, planned: 300 },
  requestsPerArrival: 1,
  dropsAllowed: false,
  figures,
  findings: [],
  supply: 60,
  sold: 60,
  deadlocks: 0,
  serverErrors: 0,
  overloadErrors: 0,
};
const verdictOf = (changes: Partial<Evidence>) => judge({ ...good, ...changes }).verdict;

describe('the exit code of a run', () => {
  it('is 0 only when there is something and nothing of it is red', () => {
    expect(exitCodeOf([{ verdict: 'exact' }, { verdict: 'oversold' }])).toBe(0);
    for (const verdict of ['breach', 'blind', 'refused'] as const)
      expect(exitCodeOf([{ verdict: 'exact' }, { verdict }])).toBe(1);
    expect(exitCodeOf([])).toBe(1);
  });
});

describe('the verdict', () => {
  it('is exact when every gate held', () => {
    expect(judge(good)).toEqual({ verdict: 'exact', reasons: [] });
    expect(isRed('exact')).toBe(false);
  });

  it('is a breach when more were sold than there were', () => {
    expect(judge({ ...good, sold: 61 })).toEqual({ verdict: 'breach', reasons: ['OVERSOLD: 61 of 60'] });
    expect(isRed('breach')).toBe(true);
  });

  it('is a breach when fewer were sold than were wanted', () => {
    expect(judge({ ...good, sold: 59 }).reasons).toEqual(['only 59 of 60 were sold']);
  });

  it('is refused, and no breach, when some were left because others were told to come back: offer less', () => {
    const busy = { ...figures, outcomes: { ...figures.outcomes, refused: 140, contended: 90, unknown: 10 } };
    expect(judge({ ...good, figures: busy, sold: 59 })).toEqual({
      verdict: 'refused',
      reasons: ['only 59 of 60 were sold, and 100 were told to come back: offer less'],
    });
    const lost = { law: 'I9', text: 'told "issued", and it is not there as told', count: 1, examples: [] };
    expect(verdictOf({ figures: busy, sold: 59, findings: [lost] })).toBe('breach');
    expect(verdictOf({ figures: busy, sold: 61 })).toBe('breach');
    expect(verdictOf({ figures: busy, sold: 59, strategy: 'none' })).toBe('refused');
  });

  it('is a breach when a threshold of k6 was crossed that nothing here explains', () => {
    expect(verdictOf({ k6: { ...good.k6, exitCode: 99 } })).toBe('breach');
  });

  it('is a breach when an acknowledgement was lost', () => {
    const lost = { law: 'I9', text: 'told "issued", and it is not there as told', count: 1, examples: [] };
    expect(judge({ ...good, findings: [lost] })).toEqual({
      verdict: 'breach',
      reasons: ['I9: told "issued", and it is not there as told (1)'],
    });
  });

  it('is a breach when an answer was unexpected or nobody was served', () => {
    expect(verdictOf({ figures: { ...figures, outcomes: { ...figures.outcomes, refused: 239, unexpected: 1 } } })).toBe(
      'breach',
    );
    const noneServed = { ...figures, answers: { 'issue: COUPON_SOLD_OUT': 300 } };
    expect(verdictOf({ figures: noneServed, supply: undefined, sold: undefined })).toBe('breach');
  });

  it.each<[string, Partial<Evidence>]>([
    ['an arrival was dropped', { k6: { ...good.k6, planned: 301 } }],
    [
      'k6 was too busy to send',
      { figures: { ...figures, answers: { ...figures.answers, 'issue: REQUEST_TIMEOUT': 1 } } },
    ],
    ['k6 failed', { k6: { exitCode: 107, arrived: 300, planned: 300 } }],
    ['k6 left no summary', { k6: { exitCode: 0, planned: 300 } }],
    ['nothing was measured', { k6: { ...good.k6, arrived: 0 }, figures: { ...figures, requests: 0 } }],
    ['the log lost a line', { figures: { ...figures, requests: 299 } }],
    ['outcomes do not add up', { figures: { ...figures, outcomes: { ...figures.outcomes, refused: 1 } } }],
    ['the latency is empty', { figures: { ...figures, latency: {} } }],
  ])('is refused, and red, when %s', (_, changes) => {
    expect(verdictOf(changes)).toBe('refused');
    expect(isRed('refused')).toBe(true);
  });

  const drops: Partial<Evidence> = { k6: { ...good.k6, planned: 301 } };
  const logCut: Partial<Evidence> = { k6: { ...good.k6, arrived: 301, planned: 301 } };
  const invariant = { law: 'I1', text: 'issued = count of user coupons <= total', count: 1, examples: [] };
  const untold = {
    law: 'I9',
    text: 'stored, and nobody was told so',
    count: 1,
    examples: [],
    needsWholeLog: true as const,
  };
  const baskets = { scenario: 'order-multi-item', strategy: 'sorted', supply: undefined, sold: undefined };

  it.each<[string, Partial<Evidence>]>([
    ['an invariant broke while arrivals were dropped', { ...drops, findings: [invariant] }],
    ['an invariant broke and the log lost a line', { ...logCut, findings: [invariant] }],
    ['an invariant broke and k6 left no summary', { k6: { exitCode: 107, planned: 300 }, findings: [invariant] }],
    ['nobody was told of a coupon while arrivals were dropped', { ...drops, findings: [untold] }],
    ['more were sold than there were and the log lost a line', { ...logCut, sold: 61 }],
    [
      'an answer was unexpected and the log lost a line',
      { ...logCut, figures: { ...figures, outcomes: { ...figures.outcomes, refused: 239, unexpected: 1 } } },
    ],
    ['sorted baskets had a deadlock while arrivals were dropped', { ...baskets, ...drops, deadlocks: 1 }],
    ['sorted baskets had a deadlock and the log lost a line', { ...baskets, ...logCut, deadlocks: 1 }],
    [
      'a probe failed while arrivals were dropped',
      { ...drops, scenario: 'bleed', figures: { ...figures, answers: { ...figures.answers, 'probe: status 502': 1 } } },
    ],
  ])('is a breach, which no other try may forget, when %s', (_, changes) => {
    const { verdict, reasons } = judge({ ...good, ...changes });
    expect(verdict).toBe('breach');
    // What was bad about the measurement is said too, after what broke.
    expect(reasons.length).toBeGreaterThan(1);
  });

  it('is refused, and no breach, when a log that lost something is all that speaks of one', () => {
    expect(verdictOf({ ...logCut, findings: [untold] })).toBe('refused');
    expect(verdictOf({ ...logCut, sold: 59 })).toBe('refused');
    expect(verdictOf({ ...baskets, ...logCut, deadlocks: Number.NaN })).toBe('refused');
  });

  it('is a breach when only reads were served: whoever came for something got nothing', () => {
    const mixed = { scenario: 'order-mixed', strategy: 'spin', supply: undefined, sold: undefined };
    const nobody = { ...figures, answers: { 'read: acknowledged': 240, 'probe: acknowledged': 20, 'order: LOCK_TIMEOUT': 60 } }; // prettier-ignore
    expect(judge({ ...good, ...mixed, figures: nobody })).toEqual({
      verdict: 'breach',
      reasons: ['nobody was served'],
    });
    expect(verdictOf({ ...mixed, figures: { ...nobody, answers: { ...nobody.answers, 'order: acknowledged': 1 } } })).toBe('exact'); // prettier-ignore
  });

  it('lets the search for the knee drop arrivals, and nothing else', () => {
    const dropped = { k6: { ...good.k6, planned: 305 }, dropsAllowed: true, supply: undefined };
    expect(verdictOf(dropped)).toBe('exact');
    expect(verdictOf({ ...dropped, figures: { ...figures, requests: 299 } })).toBe('refused');
  });

  it('of none is oversold, which is not red; blind, which is, when it was seen to keep order', () => {
    expect(judge({ ...good, strategy: 'none', sold: 75 })).toEqual({ verdict: 'oversold', reasons: ['75 of 60'] });
    expect(isRed('oversold')).toBe(false);
    expect(verdictOf({ strategy: 'none', sold: 60 })).toBe('blind');
    expect(verdictOf({ strategy: 'none', sold: undefined })).toBe('blind');
    expect(isRed('blind')).toBe(true);
  });

  it('of none is a breach all the same when it touched what is guarded', () => {
    const breach = { law: 'I1', text: 'issued = count of user coupons <= total', count: 1, examples: [] };
    expect(verdictOf({ strategy: 'none', sold: 75, findings: [breach] })).toBe('breach');
  });

  it('of sorted baskets is a breach on one deadlock, one 5xx, or when nobody could count them', () => {
    expect(verdictOf(baskets)).toBe('exact');
    expect(verdictOf({ ...baskets, deadlocks: 1 })).toBe('breach');
    expect(verdictOf({ ...baskets, serverErrors: 1 })).toBe('breach');
    expect(verdictOf({ ...baskets, deadlocks: undefined })).toBe('breach');
    expect(verdictOf({ ...baskets, deadlocks: Number.NaN })).toBe('breach');
    // No connection in time: too much for this machine. With a deadlock it is no excuse.
    expect(verdictOf({ ...baskets, overloadErrors: 3 })).toBe('refused');
    expect(verdictOf({ ...baskets, overloadErrors: 3, deadlocks: 1 })).toBe('breach');
    expect(verdictOf({ ...baskets, overloadErrors: 3, serverErrors: 1 })).toBe('breach');
    // Where more and more is offered to find what is too much, too much is the finding.
    expect(verdictOf({ ...baskets, overloadErrors: 3, dropsAllowed: true })).toBe('exact');
    expect(verdictOf({ ...baskets, strategy: 'unsorted', deadlocks: 9 })).toBe('exact');
  });

  it('of bleed is a breach when a probe failed, or none was sent', () => {
    const probed = { ...figures, answers: { ...figures.answers, 'probe: acknowledged': 20 } };
    expect(verdictOf({ scenario: 'bleed', figures: probed })).toBe('exact');
    expect(verdictOf({ scenario: 'bleed' })).toBe('breach');
    const failed = { ...probed, answers: { ...probed.answers, 'probe: status 502': 1 } };
    expect(verdictOf({ scenario: 'bleed', figures: failed })).toBe('breach');
  });
});

describe('the 5xx of a block', () => {
  const answered = (status: number, code: string) => ({ status, code }) as ClientRecord;

  it('are all of them, a lock that was not got in time too; those of an overload are counted apart', () => {
    const records = [
      answered(503, 'LOCK_TIMEOUT'),
      answered(500, ''),
      answered(503, 'DATABASE_UNAVAILABLE'),
      answered(409, 'OUT_OF_STOCK'),
      answered(201, ''),
    ];
    expect(errorsOf(records)).toEqual({ serverErrors: 2, overloadErrors: 1 });
  });
});
