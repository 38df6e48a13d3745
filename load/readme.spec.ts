import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, resolveConfig } from 'prettier';
import { describe, expect, it } from 'vitest';
import { sampleRun } from '../test/load/sample-run.js';
import { documentsOf, publishedRuns } from './readme.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const stands = (file: string) => readFileSync(join(root, file), 'utf8');

describe('the documents with figures in them', () => {
  const newest = publishedRuns().at(-1);

  const none: [file: string, text: string][] = [
    ['README.md', 'No run is published yet'],
    ['README.ko.md', '아직 공개된 실행 결과가 없습니다'],
    ['docs/choosing.md', 'No run is published yet'],
  ];

  it('say what the newest published run says, to the letter; without a run they say that there is none', async () => {
    const wrong = newest
      ? (await documentsOf(newest)).filter(({ file, text }) => stands(file) !== text).map(({ file }) => file)
      : none.filter(([file, text]) => !stands(file).includes(text)).map(([file]) => file);
    expect(wrong, 'npm run load:readme writes them').toEqual([]);
  });

  it('are written formatted, so that writing them breaks no check, and twice is as once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'firstcome-readme-'));
    try {
      writeFileSync(join(folder, 'results.json'), JSON.stringify(sampleRun(1)));
      const documents = await documentsOf(folder);
      expect(documents.map(({ file }) => file)).toEqual(['README.md', 'README.ko.md', 'docs/choosing.md']);
      for (const { file, text } of documents) {
        const filepath = join(root, file);
        expect(await check(text, { ...(await resolveConfig(filepath)), filepath }), file).toBe(true);
        expect(text).toMatch(/\d/);
      }
      expect(documents[0]!.text).toContain('One plain conditional statement (atomic) sold out in');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 60_000);
});
