// The search for the knee: k6 again and again, up the steps until one gives way. All of it is one block.
import { figuresOf } from './figures.js';
import type { K6Run } from './k6.js';
import { firstRates, nextRates } from './knee.js';
import { steps, usersOf } from './lib/arrivals.js';
import type { Phase } from './lib/arrivals.js';
import { parseClientLog } from './lib/client-log.js';
import { profiles } from './plan.js';
import type { ProfileName } from './plan.js';

export type RunPhases = (phases: Phase[], dropsAllowed: boolean) => Promise<K6Run>;

/** Up until one gives way, then a few between the last good one and that. */
export async function climb(profile: ProfileName, run: RunPhases): Promise<{ run: K6Run; phases: Phase[] }> {
  const { knee, step } = profiles[profile];
  const phases: Phase[] = [];
  const runs: K6Run[] = [];
  for (let rates = firstRates(knee); rates.length > 0;) {
    const next = steps(rates, knee.seconds, step.pauseSeconds, usersOf(phases)).map((phase) =>
      phases.some(({ name }) => name === phase.name) ? { ...phase, name: `${phase.name}-again` } : phase,
    );
    runs.push(await run(next, true));
    phases.push(...next);
    const records = parseClientLog(runs.map(({ clientLog }) => clientLog).join('\n'));
    rates = nextRates(knee, figuresOf(records, phases).phases, knee.seconds);
  }
  return { run: together(runs), phases };
}

function together(runs: readonly K6Run[]): K6Run {
  const sum = (values: (number | undefined)[]) =>
    values.every((value) => value !== undefined) ? values.reduce((total, value) => total + value, 0) : undefined;
  return {
    exitCode: Math.max(...runs.map(({ exitCode }) => exitCode)),
    arrived: sum(runs.map(({ arrived }) => arrived)),
    cpuSeconds: sum(runs.map(({ cpuSeconds }) => cpuSeconds)),
    clientLog: runs.map(({ clientLog }) => clientLog).join('\n'),
    output: runs.map(({ output }) => output).join('\n'),
  };
}
