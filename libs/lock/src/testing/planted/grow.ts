import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Library } from '../simulation/library.js';
import type { Plant } from './plants.js';

const source = fileURLToPath(new URL('../../', import.meta.url));
const entry = join('testing', 'simulation', 'library.ts');

/** The library with one mistake in it: a copy of the sources, so that the real ones need no hook for it. */
export async function grow(plant: Plant): Promise<Library> {
  const folder = await mkdtemp(join(tmpdir(), 'firstcome-planted-'));
  try {
    await cp(source, folder, { recursive: true, filter: (path) => wanted(path.slice(source.length)) });
    for (const { file, find, replace } of plant.edits) {
      const path = join(folder, file);
      const text = await readFile(path, 'utf8');
      if (text.split(find).length !== 2) {
        throw new Error(`"${plant.mistake}": ${file} must contain once, so that the mistake can be planted: ${find}`);
      }
      await writeFile(
        path,
        text.replace(find, () => replace),
      );
    }
    const copy = (await import(pathToFileURL(join(folder, entry)).href)) as { library: Library };
    return copy.library;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function wanted(path: string): boolean {
  if (path === entry || !path.startsWith('testing'))
    return !path.endsWith('.spec.ts') && !path.startsWith(`nest${sep}`);
  return path === 'testing' || path === join('testing', 'simulation');
}
