// The sweep of back-off. How long those who poll or retry sleep is read when an instance starts (LAB_BACKOFF), so every
// value of it is measured on instances of its own.
import { join } from 'node:path';
import { withBench } from './bench.js';
import type { BenchOptions } from './bench.js';
import type { BlockPlan } from './plan.js';
import { finishedOf, runBlocks } from './runner.js';
import type { Blocks } from './runner.js';

/** Such a block needs instances with settings of their own. */
export const ofItsOwn = ({ sweep }: BlockPlan): boolean => sweep?.backoff !== undefined;

/** The plans of one value after the other: the system is started once for each. */
export async function runBackoffs(
  options: BenchOptions,
  plans: readonly BlockPlan[],
  deadline?: number,
): Promise<Blocks> {
  const together: Blocks = { results: [], left: [] };
  for (const backoff of new Set(plans.map(({ sweep }) => sweep?.backoff))) {
    const own = plans.filter(({ sweep }) => sweep?.backoff === backoff);
    const before = finishedOf(join(options.folder, 'raw'), own);
    const { results, left } =
      before.left.length === 0
        ? before
        : await withBench({ ...options, environment: { LAB_BACKOFF: String(backoff) } }, (bench) =>
            runBlocks(bench, own, deadline),
          );
    together.results.push(...results);
    together.left.push(...left);
  }
  return together;
}
