import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { testEnvironment } from './apps.js';

/** The built app as a process of its own, as in production. `npm test` builds first. */
export async function startBuilt(app: 'coupon' | 'order', overrides: Record<string, string>) {
  const child = spawn(process.execPath, [`dist/apps/${app}/src/main.js`], {
    env: { PATH: process.env['PATH'], ...testEnvironment(), PORT: '0', LOG_LEVEL: 'info', ...overrides },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const listening = new Promise<string>((resolve) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString('utf8');
      const url = /https?:\/\/[\w.:[\]]+:\d+/.exec(output)?.[0];
      if (url) resolve(url);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
  });
  const url = await Promise.race([listening, exited.then(() => undefined)]);
  return {
    url,
    output: () => output,
    /** SIGTERM, and the exit code. */
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
    exited,
  };
}
