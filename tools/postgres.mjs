// Starts a private PostgreSQL on a free loopback port. Native and npm-shipped programs are driven alike.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { handOver, reachableFolder, reachablePrograms, serverAccount } from './accounts.mjs';
import { waitForDatabase } from './databases.mjs';
import { serverEnvironment } from './environment.mjs';
import { anyFreePort } from './ports.mjs';
import { commandOf, identify, lastLines, startProcess, stopProcess } from './processes.mjs';
import { UserError } from './progress.mjs';

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '', // a socket path has a length limit that a deep checkout exceeds
  max_connections: '200',
  max_prepared_transactions: '64', // two-phase commit between the apps
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
};
// A test's data need not survive the machine; a user's must.
const FORGETFUL = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** Resolves to `url(database)`. `wanted` is the folder of the cluster, made at the first start. */
export async function startPostgres({ run, program, wanted, password, durable, log, settings: special = {} }) {
  const account = serverAccount(wanted);
  const folder = reachableFolder(wanted, account);
  const bin = reachablePrograms(program, account, folder);
  const as = { ...account, cwd: '/', env: serverEnvironment() };
  if (!existsSync(join(folder, 'PG_VERSION'))) makeCluster({ bin, folder, account, as, password, durable });
  await clearStaleLock(folder);

  for (let attempt = 1; ; attempt += 1) {
    const port = await anyFreePort();
    const settings = Object.entries({ ...SETTINGS, port, ...(!durable && FORGETFUL), ...special });
    const args = ['-D', folder, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const child = await startProcess({ command: join(bin, 'postgres'), args, log, ...as });
    run.addProcess('postgres', 'PostgreSQL', child);
    const url = (database) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    try {
      await waitForDatabase(url('postgres'), ended);
      return { url, bin };
    } catch (error) {
      // Somebody may have taken the port since we looked: look again.
      if (attempt < 3 && /could not bind/.test(lastLines(log))) continue;
      throw new UserError(`PostgreSQL (${bin}) did not start: ${error.message}\n${lastLines(log)}`);
    }
  }
}

/** Made beside its place and renamed into it: a run killed half-way leaves nothing that looks like a cluster. */
function makeCluster({ bin, folder, account, as, password, durable }) {
  const draft = `${folder}.new`;
  const passwordFile = `${folder}.password`;
  rmSync(draft, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  handOver(draft, account);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  handOver(passwordFile, account);
  const args = [
    '-D',
    draft,
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--locale=C',
  ];
  const { status, error, stderr } = spawnSync(join(bin, 'initdb'), durable ? args : [...args, '--no-sync'], {
    ...as,
    encoding: 'utf8',
  });
  rmSync(passwordFile, { force: true });
  if (status !== 0) throw new UserError(`initdb (${bin}) failed: ${error?.message ?? stderr}`);
  renameSync(draft, folder);
}

/** postmaster.pid of a killed server: that server is stopped when it still lives; a pid that is now somebody else's is not believed. */
async function clearStaleLock(folder) {
  const file = join(folder, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  if (pid > 1 && commandOf(pid).includes(folder)) {
    await stopProcess(identify(pid), { signal: 'SIGINT', graceMs: 20_000 });
    // Its children (a checkpoint, a killed backend) let go of the shared memory a moment later.
    await pause(100);
  }
  rmSync(file, { force: true });
}
