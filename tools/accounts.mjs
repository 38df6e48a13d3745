// PostgreSQL refuses to run as root: under root it gets another account, and its files a place that account can reach.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { UserError } from './progress.mjs';

const isRoot = () => process.getuid?.() === 0;

/** undefined for a normal user, else the account to use: that of the data when there is some, `postgres`, or `nobody`. */
export function serverAccount(data) {
  if (!isRoot()) return undefined;
  if (data && existsSync(data)) {
    const { uid, gid } = statSync(data);
    if (uid !== 0) return { uid, gid };
  }
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const found = accounts.find(([name]) => name === 'postgres') ?? accounts.find(([name]) => name === 'nobody');
  if (!found)
    throw new UserError(
      'PostgreSQL does not run as root and there is no account postgres or nobody: run this as another user.',
    );
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

/** Can this account reach the folder? A checkout below /root (0700) cannot be reached by anybody else. */
function reaches(account, folder) {
  return spawnSync('test', ['-x', folder], { uid: account.uid, gid: account.gid }).status === 0;
}

/** A new folder for this command alone, passable for the account; the caller removes it. */
export function temporaryFolder(account) {
  const bases = [tmpdir(), '/var/tmp', '/tmp'].filter(
    (base) => existsSync(base) && (!account || reaches(account, base)),
  );
  if (bases.length === 0)
    throw new UserError(`No temporary folder can be reached by uid ${account?.uid}: set TMPDIR to one.`);
  const folder = mkdtempSync(join(bases[0], 'firstcome-'));
  if (account) chmodSync(folder, 0o711);
  return folder;
}

/**
 * Where a cluster's files go: `wanted`, or, where the account cannot reach that, a folder of its own in /var/tmp whose
 * name is kept beside it in `<wanted>.elsewhere`.
 */
export function reachableFolder(wanted, account) {
  mkdirSync(dirname(wanted), { recursive: true });
  if (!account || reaches(account, dirname(wanted))) return wanted;
  const note = `${wanted}.elsewhere`;
  if (existsSync(note)) {
    const noted = readFileSync(note, 'utf8').trim();
    if (existsSync(dirname(noted))) return noted;
  }
  const parent = mkdtempSync('/var/tmp/firstcome-');
  chmodSync(parent, 0o711);
  writeFileSync(note, join(parent, 'data'));
  return join(parent, 'data');
}

/** Removes the folder that such a note names, and nothing that is not one of ours. */
export function removeElsewhere(note) {
  const noted = readFileSync(note, 'utf8').trim();
  if (/^\/var\/tmp\/firstcome-[^/]+\/data$/.test(noted)) rmSync(dirname(noted), { recursive: true, force: true });
}

/** The programs, copied next to the data when they lie in a place (node_modules below /root) the account cannot reach. */
export function reachablePrograms(program, account, data) {
  if (!account || reaches(account, program.bin)) return program.bin;
  if (!program.home) throw new UserError(`uid ${account.uid} cannot run the PostgreSQL in ${program.bin}.`);
  const copy = join(dirname(data), `programs-${program.version.text}`);
  if (!existsSync(copy)) cpSync(program.home, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

/** Makes the folder the account's own, as PostgreSQL insists. */
export function handOver(path, account) {
  if (account) chownSync(path, account.uid, account.gid);
}
