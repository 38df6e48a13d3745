import { describe, expect, it } from 'vitest';
import { keyOfLockName, namesOf } from './names.js';

describe('the names in Redis', () => {
  it.each([true, false])('lead back from a lock to its key, and from nothing else (cluster: %s)', (cluster) => {
    const names = namesOf(cluster, '');
    expect(keyOfLockName(names.lock('coupon:issue:42'))).toBe('coupon:issue:42');
    for (const other of [names.fence('k'), names.line('k'), names.channel('k'), 'rate:user:1'])
      expect([other, keyOfLockName(other)]).toEqual([other, undefined]);
  });
});
