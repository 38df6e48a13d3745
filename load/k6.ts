// Finds the real k6, and runs it. In this order: K6_BIN, `k6` on the PATH, `go install` into a cache folder, Docker.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LoadError, say } from './progress.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const scenarioFolder = join(root, 'load', 'scenarios');

// The second line is for machines whose Go mirror has no v2 yet; scenarios run the same on both.
const modules = ['go.k6.io/k6/v2@v2.0.0', 'go.k6.io/k6@v1.8.1'];
const image = 'grafana/k6:2.0.0';

export interface K6 {
  command: string;
  /** Before the arguments of k6 itself. */
  prefix: (folder: string) => string[];
  version: string;
  source: string;
}

/** `env` is the environment to look in. Throws with every way to get k6 when there is none. */
export function findK6(env: NodeJS.ProcessEnv = process.env): K6 {
  if (env['K6_BIN']) {
    const named = probe(resolve(env['K6_BIN']), `K6_BIN=${env['K6_BIN']}`);
    if (!named) throw new LoadError(`K6_BIN=${env['K6_BIN']} is no k6 that runs. Correct it, or unset it.`);
    return named;
  }
  const found = probe('k6', 'k6 on the PATH', env) ?? installedByGo(env) ?? inDocker(env);
  if (found) return found;
  throw new LoadError(
    [
      'No k6 here. Any one of these will do:',
      '  * install it: https://grafana.com/docs/k6/latest/set-up/install-k6/',
      '  * set K6_BIN to the program',
      '  * install Go: then k6 is built once and kept',
      '  * start Docker: then grafana/k6 is used',
    ].join('\n'),
  );
}

function probe(command: string, source: string, env: NodeJS.ProcessEnv = process.env): K6 | undefined {
  const { status, stdout } = spawnSync(command, ['version'], { encoding: 'utf8', timeout: 20_000, env });
  const version = /v\d+\.\d+\.\d+\S*/.exec(stdout ?? '')?.[0];
  return status === 0 && version ? { command, prefix: () => [], version, source } : undefined;
}

function installedByGo(env: NodeJS.ProcessEnv): K6 | undefined {
  const go = (args: string[], more: NodeJS.ProcessEnv = {}) =>
    spawnSync('go', args, { encoding: 'utf8', timeout: 600_000, env: { ...env, ...more } });
  const cache = join(env['XDG_CACHE_HOME'] ?? join(env['HOME'] ?? homedir(), '.cache'), 'firstcome');
  for (const module of modules) {
    const folder = join(cache, `k6-${module.split('@')[1]}`);
    const kept = existsSync(join(folder, 'k6')) ? probe(join(folder, 'k6'), `built from ${module}`) : undefined;
    if (kept) return kept;
  }
  if (go(['version']).status !== 0) return undefined;
  for (const module of modules) {
    const folder = join(cache, `k6-${module.split('@')[1]}`);
    mkdirSync(folder, { recursive: true });
    say(`Building k6 once with Go: ${module} (a minute or two)`);
    const built = go(['install', module], { GOBIN: folder });
    if (built.status === 0) return probe(join(folder, 'k6'), `built from ${module}`);
    say(`  not to be had: ${(built.stderr ?? '').trim().split('\n').at(-1) ?? 'go install failed'}`);
  }
  return undefined;
}

function inDocker(env: NodeJS.ProcessEnv): K6 | undefined {
  const daemon = spawnSync('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 5000, env });
  if (daemon.status !== 0) return undefined;
  const user = process.getuid ? ['--user', `${process.getuid()}:${process.getgid!()}`] : [];
  return {
    command: 'docker',
    prefix: (folder) => [
      'run',
      '--rm',
      '--network=host',
      ...user,
      `--volume=${root}:${root}:ro`,
      `--volume=${folder}:${folder}`,
      `--workdir=${root}`,
      image,
    ],
    version: image.split(':')[1]!,
    source: `Docker image ${image}`,
  };
}

export interface K6Run {
  exitCode: number;
  /** Arrivals that were made, each a user of its own. undefined: k6's summary did not say. */
  arrived?: number;
  cpuSeconds?: number;
  clientLog: string;
  output: string;
}

const running = new Set<ChildProcess>();
let ending = false;

/** Of a command that is stopping. Docker hands SIGTERM on to what it runs. */
export function endK6(signal: 'SIGTERM' | 'SIGKILL'): void {
  ending = true;
  for (const child of running) child.kill(signal);
}

/** k6 ends with this code when a threshold was crossed: a finding, not a failure of the tool. */
export const thresholdCrossed = 99;

/** Runs one scenario with the input file of this block; what the clients were told comes back as text, one line each. */
export async function runK6(
  k6: K6,
  scenario: string,
  input: { file: string; summaryFile: string; logFile: string },
): Promise<K6Run> {
  const script = join(scenarioFolder, `${scenario}.ts`);
  const args = [
    'run',
    '--quiet',
    '--no-color',
    '--no-usage-report',
    '--address=',
    '--log-format=raw',
    `--console-output=${input.logFile}`,
    `--env=INPUT=${input.file}`,
    script,
  ];
  const child = spawn(k6.command, [...k6.prefix(dirname(input.file)), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  let cpuSeconds: number | undefined;
  // Docker's client only waits: what k6 needs inside the container is not to be had here.
  const pid = k6.command === 'docker' ? undefined : child.pid;
  const watch = setInterval(() => (cpuSeconds = cpuSecondsOf(pid) ?? cpuSeconds), 200);
  const [exitCode] = (await once(child, 'close').finally(() => {
    clearInterval(watch);
    running.delete(child);
  })) as [number | null];
  // What was cut off is no block, and nobody is left to judge it.
  if (ending) await new Promise(() => {});
  const summary = readJson(input.summaryFile);
  return {
    exitCode: exitCode ?? 1,
    ...(summary !== undefined && {
      // A counter that never counted is left out of the summary.
      arrived: counterOf(summary, 'arrived') ?? 0,
    }),
    ...(cpuSeconds !== undefined && { cpuSeconds }),
    clientLog: existsSync(input.logFile) ? readFileSync(input.logFile, 'utf8') : '',
    output: output.trim(),
  };
}

/** Both shapes of k6's summary: metrics by name (v1), and a list of them (the machine-readable one). */
export function counterOf(summary: unknown, name: string): number | undefined {
  const { metrics } = ((summary as { results?: unknown }).results ?? summary) as { metrics?: unknown };
  const metric: unknown = Array.isArray(metrics)
    ? metrics.find((one: { name?: string }) => one.name === name)
    : (metrics as Record<string, unknown> | undefined)?.[name];
  const { values, count } = (metric ?? {}) as { values?: { count?: unknown }; count?: unknown };
  const found = values?.count ?? count;
  return typeof found === 'number' ? found : undefined;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** User and system time of a process, where /proc tells it (Linux; ticks of 10 ms). */
export function cpuSecondsOf(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(words[11]) + Number(words[12])) / 100;
  } catch {
    return undefined;
  }
}
