// What npm packs: the compiled sources, and the Lua files beside the code that reads them.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const here = import.meta.dirname;
const out = join(here, 'dist');
rmSync(out, { recursive: true, force: true });
// After packing nothing is left that a search or a compiler could take for a source.
if (process.argv.includes('--clean')) process.exit(0);

const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', join(here, 'tsconfig.build.json')], {
  stdio: 'inherit',
});
if (status !== 0) {
  console.error('The library does not compile: see the errors above.');
  process.exit(1);
}
cpSync(join(here, 'src'), out, {
  recursive: true,
  filter: (source) => !/\.[a-z]+$/.test(source) || source.endsWith('.lua'),
});
