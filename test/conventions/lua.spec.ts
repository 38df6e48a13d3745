import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

// A script is a file whose header says what it does, its KEYS, its ARGV and what it returns. Callers read the header, so a
// number that it names and the body does not use (or the other way round) is a lie.
const files = readdirSync('libs', { withFileTypes: true, recursive: true })
  .filter((entry) => entry.name.endsWith('.lua'))
  .map((entry) => ({ name: entry.name, text: readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8') }));
// Snippets get their KEYS and ARGV from the scripts that include them.
const snippets = new Set(
  files.flatMap(({ text }) => [...text.matchAll(/^-- @include (\S+)/gm)].map(([, name]) => `${name}.lua`)),
);
const scripts = files.filter(({ name }) => !snippets.has(name));
const snippetFunctions = files
  .filter(({ name }) => snippets.has(name))
  .flatMap(({ text }) => [...text.matchAll(/function (\w+)\(/g)].map(([, name]) => name!));

/** The comment at the top, as one block or as lines; the rest without its comments. */
function parts(text: string): { header: string; body: string } {
  const [header = ''] = /^(--\[\[[^]*?\]\]|(--.*\n)+)/.exec(text) ?? [];
  return { header, body: text.slice(header.length).replaceAll(/--.*$/gm, '') };
}

/** The numbers written out, as in ARGV[2]; `KEYS[1..n]` and `KEYS[i]` are counted as a mention only. */
function uses(text: string, table: 'KEYS' | 'ARGV'): { mentioned: boolean; numbers: string[] } {
  const numbers = [...text.matchAll(new RegExp(`${table}\\[(\\d+)\\]`, 'g'))].map(([, number]) => number!);
  const all = table === 'KEYS' ? [...numbers, ...handedOn(text)] : numbers;
  return { mentioned: text.includes(table), numbers: [...new Set(all)].toSorted() };
}

/** A snippet gets its keys as their numbers: `hand_on(1, 2, 3, …)` uses KEYS[1] to KEYS[3]. */
function handedOn(text: string): string[] {
  const calls = snippetFunctions.flatMap((name) => [...text.matchAll(new RegExp(`\\b${name}\\(([^)]*)\\)`, 'g'))]);
  return calls.flatMap(([, args]) => args!.split(',').map((arg) => arg.trim())).filter((arg) => /^\d+$/.test(arg));
}

describe('every Lua script', () => {
  it('is found', () => expect(scripts.length).toBeGreaterThan(0));

  it.each(scripts)('$name names in its header exactly the KEYS and ARGV that its body uses', ({ text }) => {
    const { header, body } = parts(text);
    expect(header, 'a header with the return value').toMatch(/\breturns?\b/i);
    for (const table of ['KEYS', 'ARGV'] as const) expect(uses(body, table), table).toEqual(uses(header, table));
  });
});
