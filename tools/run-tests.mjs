// Runs vitest on private servers and counts from its report, so that a crash or an empty run is never a success.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { CHOSEN, DECIDED, without } from './environment.mjs';
import { install } from './install.mjs';
import { inRoot, root } from './paths.mjs';
import { whenParentDies } from './processes.mjs';
import { say } from './progress.mjs';
import { cleanUpDeadRuns, Run, testRunFile } from './runs.mjs';
import { testServices } from './services.mjs';

export const summary = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;

/** Resolves to { passed, failed, skipped }; stops all it started, also when it is told to end. */
export async function runTests(vitestArguments = []) {
  const orphans = await cleanUpDeadRuns();
  if (orphans.length > 0) say(`Stopped what a killed run had left: ${orphans.join(', ')}`);
  const run = Run.open(testRunFile());
  let ending;
  const end = (signal) => {
    ending ??= (async () => {
      say(`${signal}: stopping ...`);
      await run.stop(say);
      process.exit(1);
    })();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(signal));
  whenParentDies(() => end('npm was killed'));

  try {
    await install();
    const servers = await testServices(run);
    await build();
    const report = join(run.state.folders[0], 'vitest.json');
    const vitest = spawn(
      process.execPath,
      [
        inRoot('node_modules', 'vitest', 'vitest.mjs'),
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
        ...vitestArguments,
      ],
      { cwd: root, stdio: 'inherit', env: { ...without(process.env, [...DECIDED, ...CHOSEN]), ...servers } },
    );
    run.addProcess('app', 'vitest', vitest);
    const [code, signal] = await once(vitest, 'exit');
    return count(readReport(report), code ?? signal);
  } finally {
    await (ending ?? run.stop(say));
  }
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Counts a vitest JSON report. What failed without a failing test (a file that does not load, a crash, no test at all) counts as one. */
export function count(report, code, tell = say) {
  const passed = report?.numPassedTests ?? 0;
  const skipped = (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0);
  const brokenFiles = (report?.testResults ?? []).filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  let failed = (report?.numFailedTests ?? 0) + brokenFiles.length;
  for (const { name } of brokenFiles) tell(`${name} failed outside its tests`);
  if (failed === 0 && code !== 0) {
    tell(
      report
        ? `vitest ended with ${code} although no test failed (an unhandled error?): counted as one failure`
        : `vitest ended with ${code} and left no report: counted as one failure`,
    );
    failed = 1;
  }
  if (failed === 0 && passed === 0) {
    tell('no test ran: counted as one failure');
    failed = 1;
  }
  return { passed, failed, skipped };
}
