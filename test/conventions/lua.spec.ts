import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

// A script is a file whose header says what it does, its KEYS, its ARGV and what it returns:
//   -- KEYS[1] the lock key
//   -- ARGV[1] the token
//   -- Returns 1 when released
// The header is what callers read, so a number it names and the body does not use (or the other way) is a lie.
const scripts = readdirSync('libs', { withFileTypes: true, recursive: true })
  .filter((entry) => entry.name.endsWith('.lua'))
  .map((entry) => `${entry.parentPath}/${entry.name}`);

function parts(path: string): { header: string; body: string } {
  const lines = readFileSync(path, 'utf8').split('\n');
  const end = lines.findIndex((line) => !line.startsWith('--') && line.trim() !== '');
  return { header: lines.slice(0, end).join('\n'), body: lines.slice(end).join('\n').replaceAll(/--.*$/gm, '') };
}

const numbers = (text: string, table: 'KEYS' | 'ARGV'): number[] =>
  [
    ...new Set([...text.matchAll(new RegExp(`${table}\\[(\\d+)\\]`, 'g'))].map(([, digits]) => Number(digits))),
  ].toSorted((a, b) => a - b);

describe('every Lua script', () => {
  it('is found', () => expect(scripts.length).toBeGreaterThan(0));

  it.each(scripts)('%s names in its header exactly the KEYS and ARGV that its body uses', (path) => {
    const { header, body } = parts(path);
    expect(header, 'a header with the return value').toMatch(/returns?/i);
    for (const table of ['KEYS', 'ARGV'] as const) expect(numbers(body, table), table).toEqual(numbers(header, table));
  });
});
