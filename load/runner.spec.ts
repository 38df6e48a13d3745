import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sampleBlock } from '../test/load/sample-run.js';
import type { Bench } from './block.js';
import { roundOf } from './plan.js';
import { runBlocks } from './runner.js';

describe('a run that goes on', () => {
  it('keeps the blocks it finished, and measures again those that were refused or never written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'firstcome-resume-'));
    try {
      const plans = roundOf('coupon-flash', ['atomic', 'spin', 'queue'], 1, 1);
      const [kept, refused, missing] = plans;
      const write = (plan: typeof kept, verdict: 'exact' | 'refused') =>
        writeFileSync(
          join(folder, `${plan!.id}.json`),
          JSON.stringify({ ...sampleBlock('coupon-flash', plan!.strategy, 1), verdict }),
        );
      write(kept, 'exact');
      write(refused, 'refused');
      // No time is left: what would be measured is what is left over.
      const { results, left } = await runBlocks({ folder } as Bench, plans, performance.now());
      expect(results.map(({ id }) => id)).toEqual([kept!.id]);
      expect(left).toEqual([refused, missing]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
