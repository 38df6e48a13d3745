import { describe, expect, it } from 'vitest';
import { basketOf, subtotalOf } from './basket.js';

const codeOf = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    return (error as { problem: { code: string } }).problem.code;
  }
};

describe('a basket', () => {
  it('merges the items of one option and points at the first that named it', () => {
    const items = [
      { optionId: 7, quantity: 2 },
      { optionId: 3, quantity: 1 },
      { optionId: 7, quantity: 5 },
    ];
    expect(basketOf(items)).toEqual([
      { optionId: 3, quantity: 1, pointer: '/items/1' },
      { optionId: 7, quantity: 7, pointer: '/items/0' },
    ]);
  });

  it('is sorted by number, not by text', () => {
    const items = [10, 9, 100, 2].map((optionId) => ({ optionId, quantity: 1 }));
    expect(basketOf(items).map((line) => line.optionId)).toEqual([2, 9, 10, 100]);
  });

  it('takes 1000 of one option, and not 1001 in two items', () => {
    expect(basketOf([600, 400].map((quantity) => ({ optionId: 1, quantity })))).toMatchObject([{ quantity: 1000 }]);
    expect(codeOf(() => basketOf([600, 401].map((quantity) => ({ optionId: 1, quantity }))))).toBe(
      'QUANTITY_LIMIT_EXCEEDED',
    );
  });
});

describe('a subtotal', () => {
  const line = (quantity: number) => ({ optionId: 1, quantity, pointer: '/items/0' });

  it('is exact up to 2^53-1', () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(subtotalOf([line(1), line(1)], [{ price: most - 1 }, { price: 1 }])).toBe(most);
    expect(subtotalOf([line(1000)], [{ price: 9007199254740 }])).toBe(9007199254740000);
  });

  it('beyond that is refused, never rounded', () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(codeOf(() => subtotalOf([line(1), line(1)], [{ price: most }, { price: 1 }]))).toBe('TOTAL_LIMIT_EXCEEDED');
    expect(codeOf(() => subtotalOf([line(1000)], [{ price: most }]))).toBe('TOTAL_LIMIT_EXCEEDED');
  });
});
