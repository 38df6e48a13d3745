import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sampleBlock } from '../test/load/sample-run.js';
import type { Bench } from './block.js';
import { roundOf } from './plan.js';
import { runBlocks } from './runner.js';
import type { Verdict } from './verdict.js';

describe('a run that goes on', () => {
  it('keeps the blocks it finished, and measures again those that showed nothing or were never written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'firstcome-resume-'));
    try {
      const plans = roundOf('coupon-flash', ['atomic', 'spin', 'queue', 'none'], 1, 1);
      const [kept, refused, blind, missing] = plans;
      const write = (plan: typeof kept, verdict: Verdict) =>
        writeFileSync(
          join(folder, `${plan!.id}.json`),
          JSON.stringify({ ...sampleBlock('coupon-flash', plan!.strategy, 1), verdict }),
        );
      write(kept, 'exact');
      // No time is left: what would be measured is what is left over.
      const measure = () => runBlocks({ folder } as Bench, plans, performance.now());
      write(refused, 'refused');
      expect((await measure()).left).toEqual([refused, blind, missing]);
      write(refused, 'exact');
      write(blind, 'blind');
      const { results, left } = await measure();
      expect(results.map(({ id }) => id)).toEqual([kept!.id, refused!.id]);
      expect(left).toEqual([blind, missing]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
