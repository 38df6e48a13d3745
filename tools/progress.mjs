// What the commands say while they work: one line per step, with the seconds since the command began.
const began = performance.now();
const stamp = () => `[${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s]`;

// A reader that went away (`npm start | head`, a closed terminal) must not kill the run before it has stopped its servers.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

/** @param {string} text */
export function say(text) {
  process.stdout.write(`${stamp()} ${text}\n`);
}

/** Runs one slow step; says so at once, then every 10 seconds until it is done. */
export async function step(title, work) {
  const from = performance.now();
  const seconds = () => Math.round((performance.now() - from) / 1000);
  say(`${title} ...`);
  const timer = setInterval(() => say(`${title} ... still at it after ${seconds()} s`), 10_000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** A failure the user can act on: shown without a stack. */
export class UserError extends Error {}

export function explain(error) {
  return error instanceof UserError ? error.message : (error?.stack ?? String(error));
}
