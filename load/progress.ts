// What the load commands say while they work.
const began = performance.now();

// A reader that went away (`npm run load ... | head`) must not kill the run before it has cleaned up.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

export function say(text: string): void {
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
  process.stderr.write(`[${seconds} s] ${text}\n`);
}

/** What the commands were asked for: results go to standard output, everything else to standard error. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** A failure the user can act on: shown without a stack. */
export class LoadError extends Error {}

export const explain = (error: unknown): string =>
  error instanceof LoadError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);

/** `1 h 02 min`, `3 min 20 s`, `45 s`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}
