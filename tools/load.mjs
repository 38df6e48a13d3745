// npm run load, npm run compare, npm run load:readme: installs where missing, then runs the TypeScript under load/.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { install } from './install.mjs';
import { inRoot, root } from './paths.mjs';
import { explain } from './progress.mjs';

const [command, ...args] = process.argv.slice(2);

async function main() {
  await install();
  const child = spawn(process.execPath, ['--import', 'tsx', inRoot('load', `${command}.ts`), ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  // A Ctrl-C of the terminal reaches the child by itself; a signal to this process alone is passed on.
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  process.on('SIGINT', () => {});
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
}

main().catch((error) => {
  console.error(explain(error));
  process.exitCode = 1;
});
