// Starts a private Redis (or Valkey) on a free loopback port, native or npm-shipped, never evicting (an evicted key is a lost lock).
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { waitForRedis } from './databases.mjs';
import { serverEnvironment } from './environment.mjs';
import { anyFreePort } from './ports.mjs';
import { lastLines, startProcess } from './processes.mjs';
import { UserError } from './progress.mjs';

const shippedServer = fileURLToPath(new URL('valkey.mjs', import.meta.url));

/** Resolves to its URL. With `durable` a native server keeps its keys in `folder`; the npm-shipped one cannot. */
export async function startRedis({ run, program, name, folder, durable, log }) {
  mkdirSync(folder, { recursive: true });
  for (let attempt = 1; ; attempt += 1) {
    const port = await anyFreePort();
    const command = program.shipped ? process.execPath : program.bin;
    const args = program.shipped ? ['--no-warnings', shippedServer, String(port)] : nativeArguments(port, durable);
    // Its folder is the working one, so that no blank of its path has to survive Redis' own parsing of arguments.
    const child = await startProcess({ command, args, log, cwd: folder, env: serverEnvironment() });
    run.addProcess('redis', name, child);
    const url = `redis://127.0.0.1:${port}`;
    try {
      await waitForRedis(url, new Promise((resolve) => child.once('exit', resolve)));
      return url;
    } catch (error) {
      if (attempt < 3 && /in use|EADDRINUSE/i.test(lastLines(log))) continue;
      throw new UserError(`${name} (${program.name}) did not start: ${error.message}\n${lastLines(log)}`);
    }
  }
}

function nativeArguments(port, durable) {
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir: '.',
    save: '',
    appendonly: durable ? 'yes' : 'no',
    'maxmemory-policy': 'noeviction',
    daemonize: 'no',
  };
  return Object.entries(settings).flatMap(([setting, value]) => [`--${setting}`, value]);
}
