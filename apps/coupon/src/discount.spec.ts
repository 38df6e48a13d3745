import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { discountOf } from './discount.js';

const fixed = (discountValue: number, maxDiscount: number | null = null) => ({
  discountType: 'FIXED' as const,
  discountValue,
  maxDiscount,
});
const percent = (discountValue: number, maxDiscount: number | null = null) => ({
  discountType: 'PERCENT' as const,
  discountValue,
  maxDiscount,
});

describe('the discount', () => {
  it.each([
    [fixed(10), 100, 10],
    [fixed(10), 7, 7],
    [fixed(10, 5), 100, 5],
    [fixed(10), 0, 0],
    [percent(15), 999, 149],
    [percent(15, 100), 999, 100],
    [percent(100), 999, 999],
    [percent(1), 99, 0],
  ])('%o of %d is %d', (rules, subtotal, expected) => {
    expect(discountOf(rules, subtotal)).toBe(expected);
  });

  it('is floor(subtotal x value / 100) exactly, whatever the subtotal', () => {
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), fc.integer({ min: 1, max: 100 }), (subtotal, value) => {
        expect(BigInt(discountOf(percent(value), subtotal))).toBe((BigInt(subtotal) * BigInt(value)) / 100n);
      }),
    );
  });
});
