import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const page = readFileSync('docs/mistakes.md', 'utf8');
const rows = page.split('\n').filter((line) => /^\|(?! (?:the mistake|-))/.test(line));
const references = [...page.matchAll(/\]\(\.\.\/([^)]+)\) `(.+?)`(?=;| *\|)/g)].map(([, file, text]) => ({
  file,
  text,
}));

describe('docs/mistakes.md', () => {
  it('has a test for each mistake, or says why there is no room for it', () => {
    expect(rows.length).toBeGreaterThan(30);
    const bare = rows.filter((row) => !/\]\(\.\.\//.test(row) && !/\. *\|$/.test(row));
    expect(bare).toEqual([]);
    expect(references.length).toBeGreaterThan(rows.length);
  });

  it.each(references)('$file has: $text', ({ file, text }) => {
    expect(existsSync(file!), file).toBe(true);
    expect(readFileSync(file!, 'utf8').replaceAll("\\'", "'")).toContain(text);
  });
});
