import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A Lua file beside this one, with its includes in place, known to Redis by its SHA-1. */
export interface Script {
  readonly name: string;
  readonly source: string;
  readonly sha: string;
}

const include = /^-- @include ([a-z-]+)$/gm;

function read(name: string): string {
  return readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8');
}

export function loadScript(name: string): Script {
  const included = new Set<string>();
  const expand = (source: string): string =>
    source.replace(include, (_line, part: string) => {
      // Twice the same `local function` is twice the size and nothing else.
      if (included.has(part)) return '';
      included.add(part);
      return expand(read(part));
    });
  const source = expand(read(name));
  return { name, source, sha: createHash('sha1').update(source).digest('hex') };
}
