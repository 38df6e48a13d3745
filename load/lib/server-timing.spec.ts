import { describe, expect, it } from 'vitest';
import { parseServerTiming } from './server-timing.js';

describe('Server-Timing', () => {
  it('is read in any order, with other metrics, descriptions and spaces between', () => {
    const expected = { lock: 1.2, hold: 3, db: 2.5 };
    expect(parseServerTiming('lock;dur=1.2, hold;dur=3, db;dur=2.5')).toEqual(expected);
    expect(parseServerTiming('db;dur=2.5,total;dur=9,hold;desc="x";dur=3 , lock;dur="1.2"')).toEqual(expected);
  });

  it('is undefined where a part is missing or is no duration: an unmeasured wait is not a wait of 0', () => {
    expect(parseServerTiming(undefined)).toBeUndefined();
    expect(parseServerTiming('')).toBeUndefined();
    expect(parseServerTiming('lock;dur=1, hold;dur=2')).toBeUndefined();
    expect(parseServerTiming('lock;dur=x, hold;dur=2, db;dur=1')).toBeUndefined();
    expect(parseServerTiming('lock;dur=-1, hold;dur=2, db;dur=1')).toBeUndefined();
    expect(parseServerTiming('lock, hold;dur=2, db;dur=1')).toBeUndefined();
  });
});
