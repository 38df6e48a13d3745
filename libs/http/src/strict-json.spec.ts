import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProblemError } from './problem.js';
import { parseStrictJson } from './strict-json.js';

const parse = (text: string) => parseStrictJson(Buffer.from(text));

function codeOf(body: string | Uint8Array): string {
  try {
    parseStrictJson(Buffer.from(body));
    return 'taken';
  } catch (error) {
    if (error instanceof ProblemError) return error.problem.code;
    throw error;
  }
}

// Texts, numbers and keys that a reader and the database keep as they are.
const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((value) => !value.includes('\0'));
const scalar = fc.oneof(text, fc.maxSafeInteger(), fc.boolean(), fc.constant(null));
const key = text.filter((value) => !(value in Object.prototype));
const { object } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    scalar,
    tie('object'),
    fc.array(fc.oneof(scalar, tie('object'))),
  ),
  object: fc.dictionary(key, tie('value'), { maxKeys: 5 }),
}));

describe('strict JSON', () => {
  it('reads what JSON.parse reads, for whatever survives the trip', () => {
    fc.assert(
      fc.property(object, fc.boolean(), (value, spaced) => {
        const written = JSON.stringify(value, null, spaced ? 2 : 0);
        expect(parse(written)).toEqual(JSON.parse(written));
      }),
      { numRuns: 500 },
    );
  });

  it('throws only problems of status 400, whatever the bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 60 });
    const jsonish = fc
      .array(fc.constantFrom(...'{}[]",:\\u0d8e19.-+eE tfn_"a'.split('')), { maxLength: 40 })
      .map((c) => c.join(''));
    fc.assert(
      fc.property(fc.oneof(bytes, jsonish), (body) => {
        expect(['taken', 'MALFORMED_JSON', 'VALIDATION_FAILED']).toContain(codeOf(body));
      }),
      { numRuns: 5000 },
    );
  });

  it('finds a key written twice at any depth, in any spelling', () => {
    fc.assert(
      fc.property(key, fc.nat({ max: 8 }), fc.boolean(), (name, depth, escaped) => {
        const plain = JSON.stringify(name);
        const codes = name.split('').map((unit) => unit.charCodeAt(0));
        const again = escaped ? `"${codes.map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join('')}"` : plain;
        const twice = `{${plain}:1 , ${again} :{}}`;
        const wrapped = `${'{"x":'.repeat(depth)}${twice}${'}'.repeat(depth)}`;
        expect(codeOf(wrapped)).toBe('MALFORMED_JSON');
      }),
    );
  });

  it('takes a key again in another object, and as a value', () => {
    expect(parse('{"a":{"a":"a"},"b":[{"a":1},{"a":2}]}')).toEqual({ a: { a: 'a' }, b: [{ a: 1 }, { a: 2 }] });
  });

  it.each(['1', '0', '-1', '1.5', '-0.25', '1.0', '1e2', '1E+2', '9007199254740991', '-9007199254740991', '0.1'])(
    'takes the number %s',
    (number) => expect(parse(`{"n":${number}}`)).toEqual({ n: Number(number) }),
  );

  const changed =
    '9007199254740992 9007199254740993 -9007199254740992 12345678901234567890 1e400 -1e400 1e16 -0 -0.0 1e-400 ' +
    '1.00000000000000000001 0.99999999999999999999 9007199254740990.7 15e-1e1';
  it.each(changed.split(' '))('refuses the number %s', (number) => {
    expect(codeOf(`{"n":${number}}`)).not.toBe('taken');
    expect(codeOf(`{"n":[${number}]}`)).not.toBe('taken');
  });

  it('counts nesting from the outermost object: 10 levels, not 11', () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
    expect([codeOf(nested(10)), codeOf(nested(11))]).toEqual(['taken', 'VALIDATION_FAILED']);
  });

  it('counts items: 50, not 51; commas in texts are none', () => {
    const items = (count: number) => `{"a":[${Array(count).fill('"x,y"').join(',')}]}`;
    expect([codeOf(items(50)), codeOf(items(51))]).toEqual(['taken', 'VALIDATION_FAILED']);
    const keys = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',')}}`;
    expect([codeOf(keys(50)), codeOf(keys(51))]).toEqual(['taken', 'VALIDATION_FAILED']);
  });

  it('tells keys from texts that look like them', () => {
    expect(parse('{"a":"__proto__","b":"{\\"b\\":1}","c":"x\\\\"}')).toEqual({
      a: '__proto__',
      b: '{"b":1}',
      c: 'x\\',
    });
    expect(codeOf('{"\\u005f_proto__":1}')).toBe('VALIDATION_FAILED');
  });

  it('quotes nothing of the body in its refusal', () => {
    expect(() => parse('{"<script>":')).toThrow(/^(?!.*script)/s);
  });
});
