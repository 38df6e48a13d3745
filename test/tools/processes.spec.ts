import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identify, isAlive, startedAt, startProcess, stopProcess } from '../../tools/processes.mjs';
import { cleanUpDeadRuns, Run } from '../../tools/runs.mjs';

const ignoresSigterm = `process.on('SIGTERM', () => {}); console.log('ready'); setInterval(() => {}, 1000)`;
let folder: string;
const started: number[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firstcome-runs-'));
});
afterEach(async () => {
  for (const pid of started.splice(0)) await stopProcess(identify(pid), { signal: 'SIGKILL' });
  rmSync(folder, { recursive: true });
});

async function start(script = 'setInterval(() => {}, 1000)') {
  const child = await startProcess({ command: process.execPath, args: ['-e', script], log: join(folder, 'log') });
  const pid = child.pid ?? 0;
  started.push(pid);
  return { pid };
}

/** A pid that certainly belonged to a process that is gone. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return child.pid ?? 0;
}

describe('processes of a run', () => {
  it('a pid with another start time is somebody else: not alive, never stopped', async () => {
    const child = await start();
    const recycled = { pid: child.pid, started: 'a/1' };
    expect(isAlive(recycled)).toBe(false);
    expect(await stopProcess(recycled)).toBe('gone');
    expect(isAlive(identify(child.pid))).toBe(true);
  });

  it('a process that ended has no start time', async () => {
    expect(startedAt(await deadPid())).toBeUndefined();
  });

  it('a process runs in a group of its own, so that Ctrl-C reaches only its starter', async () => {
    const child = await start();
    expect(() => process.kill(-child.pid, 0)).not.toThrow();
  });

  it('one that does not end in time is killed, and that is said', async () => {
    const child = spawn(process.execPath, ['-e', ignoresSigterm], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    expect(await stopProcess(identify(child.pid ?? 0), { graceMs: 50 })).toBe('killed');
  });

  it('only one run owns a file; another is told no', () => {
    const file = join(folder, 'start.json');
    expect(Run.open(file)).toBeInstanceOf(Run);
    expect(Run.open(file)).toBeNull();
  });

  it('what a dead run left is stopped and removed; a living run is left alone', async () => {
    const [orphan, child] = [await start(), await start()];
    const left = join(folder, 'left');
    writeFileSync(left, '');
    const dead = Run.open(join(folder, 'dead.json'));
    dead?.addProcess('redis', 'redis', orphan);
    dead?.addFolder(left);
    Object.assign(dead?.state.owner ?? {}, { started: 'a boot long ago' });
    dead?.save();
    Run.open(join(folder, 'living.json'))?.addProcess('redis', 'redis', child);

    expect(await cleanUpDeadRuns(folder)).toEqual(['redis']);
    expect(isAlive(identify(orphan.pid))).toBe(false);
    expect(existsSync(left)).toBe(false);
    expect(existsSync(join(folder, 'dead.json'))).toBe(false);
    expect(isAlive(identify(child.pid))).toBe(true);
    expect(existsSync(join(folder, 'living.json'))).toBe(true);
  });
});
