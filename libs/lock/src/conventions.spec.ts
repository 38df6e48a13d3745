import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const here = import.meta.dirname;
const sources = readdirSync(here, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'),
);

// Whoever needs one of these needs a port: a seed must be able to repeat every run.
const banned: [RegExp, string][] = [
  [/\bDate\.now\(|\bnew Date\(|\bperformance\.now\(/, 'the clock'],
  [/\b(?<!clock\.|Clock\.|this\.)(?:setTimeout|setInterval|setImmediate)\(/, 'a timer'],
  [/\bMath\.random\(|\brandomBytes\(|\brandomUUID\(/, 'chance'],
];
const ports = new Set(['ports/clock.ts', 'ports/random.ts']);

describe('the sources of the library', () => {
  it('take time and chance from their ports only', () => {
    const found: string[] = [];
    for (const path of sources) {
      // What tests are made of may wait for the event loop; its time is given to it all the same.
      if (ports.has(path) || path.startsWith('testing/')) continue;
      const text = readFileSync(join(here, path), 'utf8').replace(/^\s*(?:setTimeout|clearTimeout)\(.*/gm, '');
      for (const [pattern, what] of banned) if (pattern.test(text)) found.push(`${path}: ${what}`);
    }
    expect(found).toEqual([]);
  });

  it('import Nest in src/nest only, and nothing of the repository', () => {
    const found: string[] = [];
    for (const path of sources) {
      const imports = readFileSync(join(here, path), 'utf8').matchAll(/from '([^']+)'/g);
      for (const [, specifier = ''] of imports) {
        if (specifier.startsWith('@nestjs/') && !path.startsWith('nest/')) found.push(`${path}: ${specifier}`);
        if (specifier.startsWith('@firstcome/')) found.push(`${path}: ${specifier}`);
      }
    }
    expect(found).toEqual([]);
  });
});
