// The system under load: the one that `npm start` runs, or one that is started for this command and stopped after it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { signToken } from '../tools/tokens.mjs';
import { duration, LoadError, say } from './progress.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const runningFile = join(root, '.data', 'running.json');
const startLog = join(root, '.data', 'logs', 'load-start.log');
const readyWithinMs = 300_000;

export interface System {
  coupon: string[];
  order: string[];
  couponDatabaseUrl: string;
  orderDatabaseUrl: string;
  redisUrl: string;
  /** The independent servers of the strategy `redlock`; absent where the system does not say. */
  redlockUrls?: string[];
  adminToken: string;
  tokenFor(sub: string): string;
  /** Ends what was started here; leaves alone what was running. */
  stop(): Promise<void>;
}

type Running = Omit<System, 'tokenFor' | 'stop'> & { pid: number };

/** Why instances of one's own, with settings of their own, cannot be had now; undefined where they can. */
export function whyNoneOfOnesOwn(): string | undefined {
  const running = readRunning();
  return running && `it needs instances of its own, and npm start is running (pid ${running.pid}): stop that first`;
}

/** `settings` are for instances that are started for them; a system that runs has its own. */
export async function useSystem(settings?: Record<string, string>): Promise<System> {
  const running = readRunning();
  if (running && settings) throw new LoadError(`${Object.keys(settings).join(', ')}: ${whyNoneOfOnesOwn()}.`);
  if (running) {
    await mustAnswer(running);
    say(`Using the running system (pid ${running.pid}): ${[...running.coupon, ...running.order].join(' ')}`);
    return { ...running, tokenFor: (sub) => signToken({ sub }), stop: async () => {} };
  }
  return startSystem(settings);
}

function readRunning(): Running | undefined {
  try {
    const running = JSON.parse(readFileSync(runningFile, 'utf8')) as Running;
    process.kill(running.pid, 0);
    return running;
  } catch {
    return undefined;
  }
}

async function mustAnswer({ coupon, order }: Running): Promise<void> {
  for (const url of [...coupon, ...order]) {
    const status = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) }).then(
      (response) => response.status,
      () => 'no answer',
    );
    if (status !== 200)
      throw new LoadError(
        `${url}/readyz: ${status}. Stop npm start and start it again, or stop it: then this command starts its own.`,
      );
  }
}

/** `npm start`, by its own script: whoever measures a system should measure the one that users get. */
async function startSystem(settings: Record<string, string> = {}): Promise<System> {
  mkdirSync(join(root, '.data', 'logs'), { recursive: true });
  const log = openSync(startLog, 'w');
  say('Nothing runs here: starting two coupon and two order instances for this command');
  const child = spawn(process.execPath, [join(root, 'tools', 'start.mjs')], {
    cwd: root,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...settings },
    detached: true,
  });
  closeSync(log);
  let ended = false;
  const exited = once(child, 'exit').then(() => (ended = true));
  const stop = async () => {
    if (!ended) child.kill('SIGINT');
    await exited;
  };
  const from = performance.now();
  for (;;) {
    const running = readRunning();
    if (running && running.pid === child.pid) {
      say(`Ready after ${duration(performance.now() - from)}`);
      return { ...running, tokenFor: (sub) => signToken({ sub }), stop };
    }
    if (ended)
      throw new LoadError(`npm start ended before it was ready. The end of ${startLog}:\n${lastLines(startLog)}`);
    if (performance.now() - from > readyWithinMs) {
      await stop();
      throw new LoadError(`npm start was not ready after ${duration(readyWithinMs)}: see ${startLog}`);
    }
    await pause(100);
  }
}

const lastLines = (file: string): string => readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
