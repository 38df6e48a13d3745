import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contenders } from '../../libs/lock/bench/contenders/index.js';
import { sumOf } from '../../libs/lock/bench/figures.js';
import type { Results, Row } from '../../libs/lock/bench/results.js';
import { redisServerMissing } from './support/redis-server.js';

const folder = mkdtempSync(join(tmpdir(), 'firstcome-bench-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the benchmark printed and wrote; rejects where it ends with anything but 0. */
async function bench(name: string, args: readonly string[]) {
  const json = join(folder, `${name}.json`);
  const all = ['--import', 'tsx', 'libs/lock/bench/main.ts', ...args, '--json', json];
  const { stdout } = await promisify(execFile)(process.execPath, all);
  return { stdout, results: JSON.parse(readFileSync(json, 'utf8')) as Results };
}

const ours = new Set(contenders.filter((each) => each.ours).map(({ name }) => name));

describe.skipIf(redisServerMissing)('npm run bench -- --quick', () => {
  let stdout: string;
  let results: Results;
  const rows = (part?: string): Row[] =>
    results.cells.filter((cell) => part === undefined || cell.part === part).flatMap((cell) => cell.rows);

  beforeAll(async () => {
    ({ stdout, results } = await bench('quick', ['--quick']));
  }, 240_000);

  it('measures every contender: each peer is installed, and has its line in every table', () => {
    expect(results.missing).toEqual([]);
    for (const { name } of results.cells) expect(stdout).toContain(`\n${name}\n`);
    for (const { name } of contenders) {
      expect(stdout.split(`\n  ${name}  `).length - 1, name).toBe(results.cells.length);
    }
  });

  it('has every figure of every contender', () => {
    for (const { contender, blocks } of rows()) {
      expect(blocks.length, contender).toBe(1);
      const { failures, gapMs, waitMs, ...numbers } = blocks[0]!;
      expect(Object.keys(gapMs), contender).toEqual(['p50', 'p99']);
      expect(Object.keys(waitMs), contender).toEqual(['p50', 'p99']);
      expect(typeof failures, contender).toBe('object');
      expect(Object.keys(numbers).toSorted()).toEqual(
        ['inversionShare', 'leastShare', 'longestGapMs', 'nodeCpuUs', 'overlaps', 'perSecond', 'redisCpuUs', 'starved', 'turns'].toSorted(), // prettier-ignore
      );
    }
    expect(rows('cycle').map(({ counts }) => counts!.turns)).toEqual(contenders.map(() => 100));
  });

  it('sees no failure of ours, and never two of ours at once', () => {
    for (const { contender, blocks } of rows().filter((row) => ours.has(row.contender))) {
      expect([contender, blocks[0]!.failures, blocks[0]!.overlaps]).toEqual([contender, {}, 0]);
    }
  });

  it('counts what clients send: 2 commands for our uncontended cycle, whichever way we wait', () => {
    const counted = rows('cycle').filter((row) => ours.has(row.contender));
    expect(counted.map(({ counts }) => sumOf(counts!.commands) / counts!.turns)).toEqual(counted.map(() => 2));
  });

  it('counts connections: ours are 2 per process where the release wakes, and nobody has none', () => {
    const connections = new Map(rows('waiters').map(({ contender, counts }) => [contender, counts!.connections]));
    expect([connections.get('pubsub'), connections.get('queue')]).toEqual([4, 4]);
    expect(Math.min(...connections.values())).toBe(2);
  });
});

describe.skipIf(redisServerMissing)('the negative control', () => {
  it('has two holders at once in every block, and the benchmark says so and ends with 1', async () => {
    const args = ['--only', 'holds', '--rounds', '1', '--measure-ms', '50', '--contenders', 'none'];
    const failed = await bench('none', args).then(
      () => undefined,
      (error: { code: number; stderr: string }) => error,
    );
    expect(failed?.code).toBe(1);
    for (const holdMs of [1, 5, 20]) {
      expect(failed?.stderr).toContain(
        `WRONG: none, 100 waiters in 2 processes, a hold of ${holdMs} ms: two holders at once`,
      );
    }
  }, 120_000);
});
