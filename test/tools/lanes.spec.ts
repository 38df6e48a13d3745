import { describe, expect, it } from 'vitest';
import { lanesOf } from '../../tools/lanes.mjs';
import { testDatabaseUrl, testRedisUrl } from '../support/servers.js';

describe('the lanes of npm test', () => {
  it('are two, and one where there is but one processor', () => {
    expect([lanesOf({}, 8), lanesOf({}, 2), lanesOf({}, 1)]).toEqual([2, 2, 1]);
  });

  it('are as many as TEST_LANES says, and one on a server that the caller named', () => {
    expect(lanesOf({ TEST_LANES: '4' }, 2)).toBe(4);
    expect(lanesOf({ TEST_LANES: '4', TEST_REDIS_URL: 'redis://127.0.0.1:6379' }, 2)).toBe(1);
    expect(lanesOf({ TEST_LANES: '4', TEST_DATABASE_URL: 'postgres://127.0.0.1/postgres' }, 2)).toBe(1);
  });

  it.each(['0', '17', '1.5', 'two'])('TEST_LANES=%s is refused with what it may be', (wrong) => {
    expect(() => lanesOf({ TEST_LANES: wrong }, 2)).toThrow(/TEST_LANES=.*whole number from 1 to 16/);
  });

  it('give a spec one server of each kind', () => {
    expect(new URL(testDatabaseUrl()).protocol).toBe('postgres:');
    expect(new URL(testRedisUrl()).protocol).toBe('redis:');
    expect(testDatabaseUrl() + testRedisUrl()).not.toContain(' ');
  });
});
