import { describe, expect, it } from 'vitest';
import { admitsOrigin, requestedSeat } from './handshake.js';

describe('the query of a desk', () => {
  it('names a coupon and a role, in any order', () => {
    expect(requestedSeat('/v1/desk?couponId=42&role=editor')).toEqual({ couponId: 42, role: 'editor' });
    expect(requestedSeat('/v1/desk?role=reviewer&couponId=1')).toEqual({ couponId: 1, role: 'reviewer' });
  });

  it.each([
    '',
    '?',
    '?couponId=42',
    '?role=editor',
    '?couponId=0&role=editor',
    '?couponId=042&role=editor',
    '?couponId=1e3&role=editor',
    '?couponId=%201&role=editor',
    '?couponId=9007199254740993&role=editor',
    '?couponId=42&role=Editor',
    '?couponId=42&role=',
    '?couponId=42&role=editor?',
    '?couponId=42&role=editor&role=editor',
    '?couponId=42&role=editor&couponId=43',
    '?couponId=42&role=editor&token=x',
  ])('is refused and never guessed at: %s', (query) => {
    expect(() => requestedSeat(`/v1/desk${query}`)).toThrow('VALIDATION_FAILED');
  });
});

describe('the origin of a page', () => {
  const admitted = (origin: string | undefined, host = 'desk.example:3001') =>
    admitsOrigin({ origin, host }, ['https://shop.example']);

  it('is one of CORS_ORIGINS, or of this very host; what is no browser has none', () => {
    for (const origin of [undefined, 'https://shop.example', 'http://desk.example:3001']) {
      expect(admitted(origin)).toBe(true);
    }
    expect(admitted('https://desk.example', 'desk.example')).toBe(true);
  });

  it('is refused where it is another, however alike', () => {
    const others = ['null', '', 'https://shop.example.evil', 'http://shop.example', 'http://desk.example:3002'];
    for (const origin of others) expect(admitted(origin)).toBe(false);
  });
});
