// Installs the dependencies where they are missing or are not those of package-lock.json.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';
import { step, UserError } from './progress.mjs';

/** Why `npm ci` is needed, or undefined. npm records what it put into node_modules in .package-lock.json. */
export function whyInstall(folder = root) {
  const wanted = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')).packages;
  let installed;
  try {
    installed = JSON.parse(readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8')).packages;
  } catch {
    return 'nothing is installed yet';
  }
  for (const [path, { version, optional }] of Object.entries(wanted)) {
    if (path === '') continue;
    const there = installed[path] && existsSync(join(folder, path, 'package.json'));
    if (!there && optional) continue; // for another platform
    if (!there) return `${path} is missing`;
    if (installed[path].version !== version) return `${path} is ${installed[path].version}, not ${version}`;
  }
  return undefined;
}

export async function install() {
  const why = whyInstall();
  if (why) await step(`Installing dependencies with npm ci (${why})`, npmCi);
}

async function npmCi() {
  // The npm that started us where there is one; NODE_ENV=production must not leave out what the build needs.
  const npm = process.env.npm_execpath;
  const args = [
    'ci',
    '--include=dev',
    '--include=optional',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const child = npm
    ? spawn(process.execPath, [npm, ...args], { cwd: root, stdio: 'inherit' })
    : spawn('npm', args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  const [code] = await once(child, 'exit');
  if (code !== 0) {
    throw new UserError(
      'npm ci failed (see above). It needs the network once; behind a proxy set npm config proxy. Then run this again.',
    );
  }
}
