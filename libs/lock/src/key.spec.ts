import { describe, expect, it } from 'vitest';
import { LockUsageError } from './errors.js';
import { boundedLabels, targetOf, templateOf } from './key.js';

describe('a key', () => {
  it('is one of a set: sorted and without duplicates', () => {
    expect(targetOf(['b', 'a', 'b'])).toEqual({ id: 'a\nb', key: 'a, b', keys: ['a', 'b'] });
    expect(targetOf('a')).toEqual({ id: 'a', key: 'a', keys: ['a'] });
  });

  it.each(['', 'a{b', 'a}b', 'a\u0000', 'a\u007f', 'ü'.repeat(257), 'fence:x', 'queue:x', 'release:x', 42, null])(
    'is refused when it is %j',
    (key) => {
      expect(() => targetOf(key as string)).toThrow(LockUsageError);
      expect(() => targetOf([key as string])).toThrow(LockUsageError);
    },
  );

  it('is shown in metrics without its ids', () => {
    expect(templateOf('coupon:issue:42')).toBe('coupon:issue:*');
    expect(templateOf('order:u1:3f2b-11')).toBe('order:*:*');
    expect(templateOf('job:expire-orders')).toBe('job:expire-orders');
  });

  it('cannot make labels without bound', () => {
    const labelOf = boundedLabels((key) => key, 2);
    expect(['a', 'b', 'c', 'a'].map(labelOf)).toEqual(['a', 'b', 'other', 'a']);
  });
});
