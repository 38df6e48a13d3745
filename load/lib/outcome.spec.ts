import { describe, expect, it } from 'vitest';
import { classify, outcomeName } from './outcome.js';

describe('the outcome of an answer', () => {
  it.each([
    [201, '', 'acknowledged'],
    [200, '', 'acknowledged'],
    [409, 'COUPON_SOLD_OUT', 'refused'],
    [409, 'OUT_OF_STOCK', 'refused'],
    [409, 'CONCURRENT_UPDATE', 'contended'],
    [503, 'LOCK_TIMEOUT', 'contended'],
    [429, 'RATE_LIMITED', 'contended'],
    [408, 'REQUEST_TIMEOUT', 'contended'],
    [503, 'LOCK_LOST', 'unknown'],
    [503, 'DATABASE_UNAVAILABLE', 'unknown'],
    [0, '', 'unknown'],
  ])('%i %s is %s', (status, code, outcome) => {
    expect(classify(status, code)).toBe(outcome);
  });

  it.each([
    [500, 'INTERNAL_ERROR'],
    [503, ''],
    [409, ''],
    [409, 'A_NEW_CODE'],
    [400, 'VALIDATION_FAILED'],
    [401, 'UNAUTHENTICATED'],
    [202, ''],
    [302, ''],
    // The right code under the wrong status is not the contract's answer.
    [500, 'COUPON_SOLD_OUT'],
    [409, 'LOCK_TIMEOUT'],
  ])('%i %s is unexpected: nothing is good because it is unknown here', (status, code) => {
    expect(classify(status, code)).toBe('unexpected');
  });

  it('keeps each refusal under its own name, so that latencies of different answers never mix', () => {
    expect(outcomeName('refused', 'COUPON_SOLD_OUT', 409)).toBe('COUPON_SOLD_OUT');
    expect(outcomeName('acknowledged', '', 201)).toBe('acknowledged');
    expect(outcomeName('unknown', '', 0)).toBe('no answer');
    expect(outcomeName('unexpected', '', 502)).toBe('status 502');
  });
});
