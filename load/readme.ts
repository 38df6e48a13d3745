// npm run load:readme -- [folder]: writes the figures of a run (the newest in load/results by default) into README.md,
// README.ko.md and docs/choosing.md, between their markers. Nothing else of the files is touched.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { explain, LoadError, print } from './progress.js';
import { choosingTable } from './report/choosing.js';
import { betweenMarkers, comparisonTable, headlineList } from './report/markdown.js';
import { resultsSchema } from './report/results.js';
import type { Results } from './report/results.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The folders of load/results that hold a run, the newest last: by the time of the run, not by its name. */
export function publishedRuns(): string[] {
  const folder = join(root, 'load', 'results');
  const found = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  const runs = found.filter((one) => existsSync(join(one, 'results.json')));
  return runs.toSorted((a, b) => readRun(a).environment.date.localeCompare(readRun(b).environment.date));
}

export const readRun = (folder: string): Results =>
  resultsSchema.parse(JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')));

/** The documents with the figures of this run, as they stand in the repository: formatted. */
export async function documentsOf(folder: string): Promise<{ file: string; text: string }[]> {
  const results = readRun(folder);
  const here = relative(root, folder).replaceAll('\\', '/');
  const page = `${here}/report.html`;
  const contents: [file: string, content: string][] = [
    ['README.md', `${headlineList(results)}\n\n${comparisonTable(results, page)}`],
    ['README.ko.md', comparisonTable(results, page, 'ko')],
    ['docs/choosing.md', choosingTable(results, `../${here}`)],
  ];
  const documents = contents.map(async ([file, content]) => {
    const path = join(root, file);
    const written = betweenMarkers(readFileSync(path, 'utf8'), 'load', `\n${content}\n`);
    return { file, text: await format(written, { ...(await resolveConfig(path)), filepath: path }) };
  });
  return Promise.all(documents);
}

async function main(): Promise<void> {
  const folder = process.argv[2] ? resolve(process.argv[2]) : publishedRuns().at(-1);
  if (!folder) throw new LoadError('There is no run in load/results yet: npm run compare makes one.');
  for (const { file, text } of await documentsOf(folder)) {
    writeFileSync(join(root, file), text);
    print(`${file}: written from ${relative(root, folder)}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error: unknown) => {
    console.error(explain(error));
    process.exitCode = 1;
  });
}
