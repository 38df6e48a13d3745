// Child processes that outlive a signal to their starter: each in a process group of its own, remembered by pid *and*
// start time, so that a pid which the system gave to somebody else is never killed.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A text that no other process with this pid has had or will have; undefined when there is no such process. */
export function startedAt(pid) {
  if (process.platform === 'linux') {
    let stat;
    try {
      stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    } catch {
      return undefined;
    }
    // "pid (name) state ppid …": the name may hold spaces and brackets; the start time is the 20th word after it.
    const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (words[0] === 'Z') return undefined; // dead, only not yet collected by its parent
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${words[19]}`;
  }
  const ps = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const line = ps.stdout?.trim();
  if (!line || line.startsWith('Z')) return undefined;
  return line.replace(/^\S+\s+/, '');
}

export const identify = (pid) => ({ pid, started: startedAt(pid) });
export const isAlive = ({ pid, started }) => started !== undefined && startedAt(pid) === started;

/** The command line of a process, or '' when it is gone. */
export function commandOf(pid) {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  }
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
}

/** Starts a process in its own group, its output in `log`. Resolves once it runs; `child` tells when it ends. */
export async function startProcess({ command, args, log, ...options }) {
  mkdirSync(dirname(log), { recursive: true });
  const out = openSync(log, 'a');
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', out, out] });
  closeSync(out);
  await once(child, 'spawn');
  child.unref();
  return child;
}

/** Asks a process to end; after `graceMs` its whole group is killed. Answers how it went. */
export async function stopProcess(identity, { signal = 'SIGTERM', graceMs = 10_000 } = {}) {
  if (!isAlive(identity)) return 'gone';
  tryKill(identity.pid, signal);
  const deadline = performance.now() + graceMs;
  while (isAlive(identity)) {
    if (performance.now() > deadline) {
      tryKill(-identity.pid, 'SIGKILL');
      tryKill(identity.pid, 'SIGKILL');
      while (isAlive(identity)) await pause(20);
      return 'killed';
    }
    await pause(20);
  }
  return 'stopped';
}

function tryKill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** The last lines of a log, to show why its process ended. */
export function lastLines(log, count = 15) {
  try {
    return readFileSync(log, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
  } catch {
    return '(no log)';
  }
}

/** npm killed with -9 cannot pass a signal on: notice that the parent has changed. */
export function whenParentDies(act) {
  if (!process.env.npm_lifecycle_event) return; // started by hand: its shell may well end before it (nohup … &)
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && act(), 500).unref();
}
