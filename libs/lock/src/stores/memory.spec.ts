import { describe, expect, it } from 'vitest';
import { systemRandom } from '../ports/random.js';
import { lockContract } from '../testing/contract.js';
import { ManualClock } from '../testing/manual-clock.js';
import { memoryStore } from './memory.js';

const store = memoryStore();
lockContract({ describe, it }, 'memory', { store: () => store, strategies: ['pubsub', 'spin', 'adaptive', 'queue'] });

describe('the memory store', () => {
  it('forgets keys that nobody holds or waits for, and its fences rise all the same', async () => {
    const clock = new ManualClock();
    const one = store({ clock, random: systemRandom, processId: 'one' });
    const held = await one.acquire({
      keys: ['held'],
      token: 't',
      ttlMs: 1000,
      fences: 1,
      onLateGrant: () => undefined,
    });
    const grants: number[] = [];
    for (let index = 0; index < 1000; index += 1) {
      const request = {
        keys: [`k:${index % 500}`],
        token: `t${index}`,
        ttlMs: 1000,
        fences: 2,
        onLateGrant: () => undefined,
      };
      const answer = await one.acquire(request);
      if (answer.granted) grants.push(answer.fence);
      await one.release(request.keys, request.token);
    }
    expect(held.granted).toBe(true);
    expect(grants).toEqual([...new Set(grants)].toSorted((a, b) => a - b));
    expect(await one.release(['held'], 't')).toBe(true);
  });
});
