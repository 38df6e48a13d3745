// A run is one `npm start` or `npm test`: its owner, the processes it started and the folders it must remove.
// It is written to .data/runs/ as it grows, so that what a killed run left behind is found and stopped by the next one.
import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { identify, isAlive, stopProcess } from './processes.mjs';
import { inData, root, runningFile, startFile } from './paths.mjs';
import { UserError } from './progress.mjs';

// The apps first (they finish their requests), then Redis, then PostgreSQL (SIGINT is its fast, clean shutdown).
const STAGES = [
  { stage: 'app', signal: 'SIGTERM', graceMs: 12_000 },
  { stage: 'redis', signal: 'SIGTERM', graceMs: 10_000 },
  { stage: 'postgres', signal: 'SIGINT', graceMs: 20_000 },
];

export class Run {
  /** Claims the run's file; null when it is another living run's. */
  static open(file) {
    makeDataFolder();
    const run = new Run(file, { owner: identify(process.pid), processes: [], folders: [], compose: [] });
    run.save(`${file}.${process.pid}`);
    try {
      linkSync(`${file}.${process.pid}`, file); // fails when it is there already: one step, with its content
      return run;
    } catch (error) {
      if (error.code === 'EEXIST') return null;
      throw error;
    } finally {
      rmSync(`${file}.${process.pid}`, { force: true });
    }
  }

  constructor(file, state) {
    this.file = file;
    this.state = state;
  }

  addProcess(stage, name, child) {
    this.state.processes.push({ stage, name, ...identify(child.pid) });
    this.save();
    return child;
  }

  addFolder(folder) {
    this.state.folders.push(folder);
    this.save();
  }

  addCompose(project, removeVolumes) {
    if (this.state.compose.some((known) => known.project === project)) return;
    this.state.compose.push({ project, removeVolumes });
    this.save();
  }

  save(file) {
    const temporary = `${this.file}.${process.pid}.new`;
    writeFileSync(temporary, JSON.stringify(this.state, null, 2), { mode: 0o600 });
    renameSync(temporary, file ?? this.file);
  }

  async stopStage(stage, report = () => {}) {
    const { signal, graceMs } = STAGES.find((known) => known.stage === stage);
    const members = this.state.processes.filter((member) => member.stage === stage);
    await Promise.all(
      members.map(async (member) => {
        const end = await stopProcess(member, { signal, graceMs });
        if (end === 'killed') report(`${member.name} did not end within ${graceMs / 1000} s of ${signal}: killed`);
      }),
    );
    this.state.processes = this.state.processes.filter((member) => member.stage !== stage);
    this.save();
  }

  /** Stops everything this run started and nothing else; what had to be killed is reported through `report`. */
  async stop(report = () => {}) {
    for (const { stage } of STAGES) await this.stopStage(stage, report);
    for (const { project, removeVolumes } of this.state.compose) {
      spawnSync('docker', ['compose', '-p', project, ...(removeVolumes ? ['down', '-v'] : ['stop'])], { cwd: root });
    }
    for (const folder of this.state.folders) rmSync(folder, { recursive: true, force: true });
    rmSync(this.file, { force: true });
  }
}

/** `.data` must be passable (not readable) for the account that PostgreSQL gets when npm start is run by root. */
function makeDataFolder() {
  try {
    mkdirSync(inData('runs'), { recursive: true, mode: 0o711 });
  } catch (error) {
    throw new UserError(
      `Cannot write to ${inData()} (${error.code}): make it yours, or delete it with the rights it needs.`,
    );
  }
}

/** Runs whose owner has died: their processes are stopped, their folders and files removed. Answers what was found. */
export async function cleanUpDeadRuns(folder = inData('runs')) {
  makeDataFolder();
  const found = [];
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
    const run = readRun(join(folder, name));
    if (!run || isAlive(run.state.owner)) continue;
    found.push(...run.state.processes.filter(isAlive).map((member) => member.name));
    if (run.file === startFile) rmSync(runningFile, { force: true }); // first: whoever waits for it must not read of a dead run
    await run.stop();
  }
  return found;
}

export function readRun(file) {
  try {
    return new Run(file, JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

export const testRunFile = () => join(inData('runs'), `test-${process.pid}.json`);

/** The system of a living `npm start`: the content of running.json once it is ready; `pid` alone while it starts. */
export function readRunning() {
  const run = readRun(startFile);
  if (!run || !isAlive(run.state.owner)) return undefined;
  try {
    return { ready: true, ...JSON.parse(readFileSync(runningFile, 'utf8')) };
  } catch {
    return { ready: false, pid: run.state.owner.pid };
  }
}

/** For commands that need the system of `npm start`. */
export function requireRunning(command) {
  const running = readRunning();
  if (running?.ready) return running;
  throw new UserError(
    running
      ? `${command}: npm start (pid ${running.pid}) is not ready yet. Wait for ${basename(runningFile)}.`
      : `${command}: nothing is running. Start it in another terminal with: npm start`,
  );
}
