// Builds the apps whose sources changed since their last build. Also `npm run build`.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inRoot, root } from './paths.mjs';
import { explain, step, UserError } from './progress.mjs';

const APPS = ['coupon', 'order'];
const stampFile = inRoot('dist', 'built.json');
const entryOf = (app) => inRoot('dist', 'apps', app, 'src', 'main.js');

/** A digest of everything a build of `app` reads. Contents, not times: a checkout touches files without changing them. */
export function digestSources(app, folder = root) {
  const digest = createHash('sha256');
  for (const place of ['package-lock.json', 'tsconfig.json', 'nest-cli.json', 'libs', `apps/${app}`]) {
    for (const file of filesUnder(folder, place))
      digest
        .update(`${file}\0`)
        .update(readFileSync(join(folder, file)))
        .update('\0');
  }
  return digest.digest('hex');
}

function filesUnder(folder, place) {
  if (!existsSync(join(folder, place))) return [];
  if (place.includes('.json')) return [place];
  return readdirSync(join(folder, place), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.spec.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(join(folder, '/').length))
    .toSorted();
}

function readStamps() {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'));
  } catch {
    return {};
  }
}

export async function build() {
  const stamps = readStamps();
  const due = APPS.filter((app) => stamps[app] !== digestSources(app) || !existsSync(entryOf(app)));
  if (due.length === 0) return;
  // Both at once: what both write (dist/libs) is the same.
  await step(`Building ${due.join(' and ')}`, async () => {
    const digests = due.map((app) => [app, digestSources(app)]);
    await Promise.all(due.map(nestBuild));
    await repair(due);
    writeFileSync(stampFile, JSON.stringify({ ...stamps, ...Object.fromEntries(digests) }));
  });
}

/** The compiler's own record says "up to date" where somebody removed a part of dist: start over. */
async function repair(apps) {
  if (apps.every((app) => existsSync(entryOf(app)))) return;
  rmSync(inRoot('dist'), { recursive: true, force: true });
  await Promise.all(APPS.map(nestBuild));
  const missing = APPS.filter((app) => !existsSync(entryOf(app)));
  if (missing.length > 0) throw new UserError(`nest build ${missing.join(', ')} succeeded without making main.js.`);
}

async function nestBuild(app) {
  const nest = inRoot('node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  const child = spawn(process.execPath, [nest, 'build', app], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new UserError(`nest build ${app} failed:\n${output.trim()}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  build().catch((error) => {
    console.error(explain(error));
    process.exitCode = 1;
  });
}
