// npm run check: format, lint, types, every test: what CI runs. Ends with the line of npm test; a failed check counts as one more failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { install } from './install.mjs';
import { inRoot, root } from './paths.mjs';
import { explain, say, step } from './progress.mjs';
import { runTests, summary } from './run-tests.mjs';

const program = (...path) => inRoot('node_modules', ...path);
const CHECKS = [
  {
    name: 'format',
    args: [program('prettier', 'bin', 'prettier.cjs'), '--check', '.'],
    repair: 'npx prettier --write .',
  },
  { name: 'lint', args: [program('oxlint', 'bin', 'oxlint'), '--type-aware'], repair: 'correct what is listed' },
  {
    name: 'types',
    args: [program('typescript', 'bin', 'tsc'), '--noEmit', '-p', 'tsconfig.json'],
    repair: 'correct what is listed',
  },
  {
    name: 'types of the k6 scenarios',
    args: [program('typescript', 'bin', 'tsc'), '-p', 'load/scenarios/tsconfig.json'],
    repair: 'correct what is listed',
  },
];

async function check({ name, args, repair }) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) say(`${name} failed: ${repair}`);
  return { name, ok: code === 0 };
}

async function main() {
  await install();
  const results = [];
  for (const one of CHECKS) results.push(await step(`Checking ${one.name}`, () => check(one)));
  const tests = await runTests(process.argv.slice(2));
  const broken = results.filter(({ ok }) => !ok).map(({ name }) => name);
  if (broken.length > 0) console.log(`Failed besides the tests, each counted as one failure: ${broken.join(', ')}`);
  return { ...tests, failed: tests.failed + broken.length };
}

const result = await main().catch((error) => {
  console.error(`\n${explain(error)}`);
  return { passed: 0, failed: 1, skipped: 0 };
});
console.log(summary(result));
process.exit(result.failed === 0 ? 0 : 1);
