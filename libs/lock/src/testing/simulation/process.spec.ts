import { describe, expect, it } from 'vitest';
import { Chance } from './chance.js';
import { SimulatedProcess } from './process.js';
import { VirtualTime } from './virtual-time.js';

describe('a simulated process', () => {
  it('has been stopped for as long as any of its stops lasted, however they overlap', () => {
    const time = new VirtualTime();
    const process = new SimulatedProcess('p', time, new Chance(1), 1);
    const stop = (atMs: number, ms: number) => time.at(atMs, () => process.stop(ms));
    stop(0, 100);
    stop(10, 20); // inside
    stop(50, 100); // beyond
    stop(400, 10); // another one
    while (time.step());
    expect(process.stoppedMs).toBe(160);
    expect(process.stoppedUntil).toBe(410);
  });
});
