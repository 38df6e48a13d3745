import { describe, expect, it } from 'vitest';
import { parseUuid } from './path-params.js';
import { uuidv7 } from './uuidv7.js';

describe('uuidv7', () => {
  it('makes ids of version 7 that are unique and sort by the order of their making, also inside one millisecond', () => {
    const ids = Array.from({ length: 20_000 }, uuidv7);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ids);
    for (const id of ids.slice(0, 100)) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(parseUuid(id)).toBe(id);
    }
  });

  it('carries the time', () => {
    const before = Date.now();
    const time = Number.parseInt(uuidv7().replaceAll('-', '').slice(0, 12), 16);
    // A counter that ran over in an earlier test may have borrowed a few milliseconds.
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThan(before + 1000);
  });
});
