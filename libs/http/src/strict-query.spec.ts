import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrictQuery, queryRefusal } from './strict-query.js';

const codeOf = (query: string) => queryRefusal(parseStrictQuery(query))?.problem.code;

describe('strict queries', () => {
  it('reads back what URLSearchParams writes', () => {
    const word = fc.string({ unit: 'grapheme', minLength: 1 }).filter((value) => !value.includes('\0'));
    const pairs = fc.dictionary(
      word.filter((key) => !(key in Object.prototype)),
      word,
    );
    fc.assert(
      fc.property(pairs, (query) => {
        expect({ ...parseStrictQuery(new URLSearchParams(query).toString()) }).toEqual({ ...query });
      }),
    );
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof parseStrictQuery(text) === 'object'));
  });

  it.each(['a=%', 'a=%zz', 'a=%ff', '%c0%80=1'])('refuses the escape in %s', (query) => {
    expect(codeOf(query)).toBe('MALFORMED_URL');
  });

  it.each(['a=1&a=1', 'a&a', 'a=%00', '__proto__=1', 'toString=1', '%74oString=1'])('refuses %s', (query) => {
    expect(codeOf(query)).toBe('VALIDATION_FAILED');
  });

  it.each(['', '&', 'a=1&', 'a', 'a=b=c'])('takes %j', (query) => expect(codeOf(query)).toBeUndefined());
});
