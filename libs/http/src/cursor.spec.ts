import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from './cursor.js';
import { ProblemError } from './problem.js';
import { uuidv7 } from './uuidv7.js';

const shape = ['date', 'int', 'uuid'] as const;
const values: [string, number, string] = ['2026-01-31T09:00:00.000Z', 42, uuidv7()];

describe('a cursor', () => {
  it('comes back as it went out', () => {
    expect(decodeCursor(encodeCursor(values), shape)).toEqual(values);
  });

  it('is refused with 400 in any other form', () => {
    const good = encodeCursor(values);
    const forged = [
      '',
      'x',
      `${good}=`,
      `${good} `,
      good.slice(1),
      encodeCursor([]),
      encodeCursor(values.slice(0, 2)),
      encodeCursor([...values, 1]),
      encodeCursor(['2026-01-31', 42, values[2]]),
      encodeCursor([values[0], 1.5, values[2]]),
      encodeCursor([values[0], '42', values[2]]),
      encodeCursor([values[0], 2 ** 53, values[2]]),
      encodeCursor([values[0], 42, `${values[2]}'; drop table`]),
      Buffer.from(`[ ${JSON.stringify(values).slice(1)}`).toString('base64url'),
      Buffer.from('{"length":3}').toString('base64url'),
      'A'.repeat(600),
    ];
    for (const cursor of forged) expect(() => decodeCursor(cursor, shape), cursor).toThrow(ProblemError);
    fc.assert(
      fc.property(fc.string(), (cursor) => {
        expect(() => decodeCursor(cursor, shape)).toThrow(ProblemError);
      }),
    );
  });
});
