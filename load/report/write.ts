// Writes the report of a run beside its raw files: results.json, report.html, table.md.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BlockResult } from '../block.js';
import { reportPage } from './page.js';
import { resultsSchema } from './results.js';
import type { Results } from './results.js';

/** Answers the path of the page. */
export function writeReport(folder: string, run: Omit<Results, 'format'>): string {
  const results = resultsSchema.parse(
    JSON.parse(JSON.stringify({ format: 'firstcome-load-1', ...run, blocks: run.blocks.map(slim) })),
  );
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify(results)}\n`);
  const page = join(folder, 'report.html');
  writeFileSync(page, reportPage(results));
  return page;
}

/** The pictures need the points of one round; the raw files keep them all. */
function slim(block: BlockResult): BlockResult {
  const { fairness } = block.figures;
  if (!fairness || block.round === 1) return block;
  return { ...block, figures: { ...block.figures, fairness: { ...fairness, sample: [] } } };
}
