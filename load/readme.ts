// npm run load:readme -- [folder]: writes the figures of a run (the newest in load/results by default) into README.md,
// README.ko.md and docs/choosing.md, between their markers. Nothing else of the files is touched.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { explain, LoadError, print } from './progress.js';
import { choosingTable } from './report/choosing.js';
import { betweenMarkers, comparisonTable, headlineList } from './report/markdown.js';
import { resultsSchema } from './report/results.js';

const root = fileURLToPath(new URL('..', import.meta.url));

function newest(): string {
  const folder = join(root, 'load', 'results');
  const found = existsSync(folder)
    ? readdirSync(folder).filter((name) => existsSync(join(folder, name, 'results.json')))
    : [];
  const last = found.toSorted().at(-1);
  if (!last) throw new LoadError('There is no run in load/results yet: npm run compare makes one.');
  return join(folder, last);
}

function main(): void {
  const folder = process.argv[2] ? resolve(process.argv[2]) : newest();
  const results = resultsSchema.parse(JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')));
  const here = relative(root, folder).replaceAll('\\', '/');
  const page = `${here}/report.html`;
  const documents: [file: string, marker: string, content: string][] = [
    ['README.md', 'load', `${headlineList(results)}\n\n${comparisonTable(results, page)}`],
    ['README.ko.md', 'load', comparisonTable(results, page, 'ko')],
    ['docs/choosing.md', 'load', choosingTable(results, `../${here}`)],
  ];
  for (const [file, marker, content] of documents) {
    const path = join(root, file);
    if (!existsSync(path)) {
      print(`${file} does not exist: left out`);
      continue;
    }
    writeFileSync(path, betweenMarkers(readFileSync(path, 'utf8'), marker, content));
    print(`${file}: written from ${here}`);
  }
}

try {
  main();
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
