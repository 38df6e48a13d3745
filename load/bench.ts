// What every load command sets up, and takes down again however it ends.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from './block.js';
import { describeEnvironment } from './environment.js';
import type { Environment } from './environment.js';
import { endK6, findK6 } from './k6.js';
import type { ProfileName } from './plan.js';
import { explain, say } from './progress.js';
import { openStores } from './stores.js';
import { useSystem } from './system.js';

export interface BenchOptions {
  profile: ProfileName;
  folder: string;
  command: string;
  /** For instances that must be started with other settings. */
  environment?: Record<string, string>;
}

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function withBench<R>(
  { profile, folder, command, environment: settings }: BenchOptions,
  work: (bench: Bench, environment: Environment) => Promise<R>,
): Promise<R> {
  const k6 = findK6();
  say(`k6 ${k6.version} (${k6.source})`);
  const raw = join(folder, 'raw');
  mkdirSync(raw, { recursive: true });
  removeUnfinished(raw);
  const system = await useSystem(settings);
  const interrupted = (signal: NodeJS.Signals) => {
    say(`${signal}: stopping; the same command with --resume ${folder} goes on from here`);
    endK6('SIGTERM');
    removeUnfinished(raw);
    void system.stop().finally(() => {
      endK6('SIGKILL');
      process.exit(130);
    });
  };
  for (const signal of endings) process.once(signal, interrupted);
  try {
    const stores = await openStores(system);
    try {
      const environment = await describeEnvironment(system, stores, k6, command);
      const runId = `load-${Date.now().toString(36)}`;
      return await work({ system, stores, k6, profile, runId, folder: raw, commit: environment.commit }, environment);
    } finally {
      await stores.close();
    }
  } finally {
    await system.stop();
    // Whoever starts another system after this one has a handler of its own.
    for (const signal of endings) process.off(signal, interrupted);
  }
}

/** What a block that was cut off left behind: tokens and half a log, nothing to keep or to publish. */
function removeUnfinished(raw: string): void {
  for (const name of readdirSync(raw)) {
    if (name.startsWith('work-') || name.endsWith('.part')) rmSync(join(raw, name), { recursive: true, force: true });
  }
}

/** Runs a command's main function; a failure is shown and ends with exit code 1. */
export function runMain(main: () => Promise<number>): void {
  main().then(
    (code) => process.exit(code),
    (error: unknown) => {
      console.error(`\n${explain(error)}`);
      process.exit(1);
    },
  );
}
