import { describe, expect, it } from 'vitest';
import { pastSeeds } from './past-seeds.js';
import { simulate, type SimulateOptions } from './simulate.js';

const schedules = 5000;
const chunk = 500;

async function run(from: number, count: number, options: SimulateOptions, facts: Record<string, number>) {
  const broken: string[] = [];
  for (let seed = from; seed < from + count; seed += 1) {
    const verdict = await simulate(seed, options);
    for (const violation of verdict.violations) broken.push(`seed ${seed}: ${violation}`);
    for (const [fact, times] of Object.entries(verdict.facts)) facts[fact] = (facts[fact] ?? 0) + times;
  }
  return broken;
}

describe('in simulated worlds', () => {
  const facts: Record<string, number> = {};

  for (let from = 1; from <= schedules; from += chunk) {
    const last = from + chunk - 1;
    it(`no law is broken in the schedules ${from}..${last}`, { timeout: 300_000 }, async () => {
      expect(await run(from, chunk, {}, facts)).toEqual([]);
    });
  }

  it('every fault has bitten, and every kind of answer was given', () => {
    const expected = `request lost: acquire, reply lost: acquire, twice: acquire, slow: acquire, slow reply: acquire,
      astray: acquire, reply lost: renew, reply lost: release, reply lost: queue-join, stop process, kill process,
      cut subscriber, cut commands, stop redis, restart redis, wipe redis, jump redis, fail over, stale writes refused,
      overlap that the store caused, grants, ok, LOCK_TIMEOUT, LOCK_BUSY, LOCK_LOST, LOCK_ABORTED, LOCK_QUEUE_FULL,
      LOCK_BACKEND_UNAVAILABLE`.split(/,\s+/);
    expect(expected.filter((fact) => !facts[fact])).toEqual([]);
  });

  for (const { seed, was, options } of pastSeeds) {
    it(`seed ${seed} stays clean: ${was}`, { timeout: 300_000 }, async () => {
      expect((await simulate(seed, options)).violations).toEqual([]);
    });
  }

  it('the same seed is the same schedule, to the last command', async () => {
    const [one, two] = [await simulate(11, { tracing: true }), await simulate(11, { tracing: true })];
    expect(one.trace.length).toBeGreaterThan(20);
    expect(two).toEqual(one);
  });
});
