import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { testEnvironment } from './apps.js';

/** Builds what changed since the last build. */
export const build = () => promisify(execFile)(process.execPath, ['tools/build.mjs']);

/** The built app as a process of its own, as in production: until it listens, or has ended. */
export async function startBuilt(app: 'coupon' | 'order', overrides: Record<string, string>) {
  const child = spawn(process.execPath, [`dist/apps/${app}/src/main.js`], {
    env: { PATH: process.env['PATH'], ...testEnvironment(), PORT: '0', LOG_LEVEL: 'info', ...overrides },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'close').then(() => child.exitCode);
  let output = '';
  const listening = new Promise<string>((resolve) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString('utf8');
      const port = /Listening on https?:\/\/\S+?:(\d+)/.exec(output)?.[1];
      if (port) resolve(`http://127.0.0.1:${port}`);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
  });
  const url = await Promise.race([listening, exited.then(() => undefined)]);
  const stop = (): Promise<number | null> => {
    child.kill('SIGTERM');
    return exited;
  };
  /** SIGKILL: nothing it had not committed is there. */
  const kill = (): Promise<number | null> => {
    child.kill('SIGKILL');
    return exited;
  };
  /** SIGSTOP: its connections stay open and nothing is answered, until `resume`. */
  const hang = (): void => void child.kill('SIGSTOP');
  const resume = (): void => void child.kill('SIGCONT');
  return { url, output: () => output, exited, stop, kill, hang, resume };
}
