/** Milliseconds on the machine's monotonic clock: comparable between the processes of one machine. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Polls until the condition holds. What it waits for is named, so that a timeout says what did not happen. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 15_000): Promise<void> {
  const deadline = now() + withinMs;
  while (!(await holds())) {
    if (now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(5);
  }
}

/**
 * Sleeps in small steps, and says by how much they came late: on a machine that has no time for its processes nothing else
 * comes in time either, so a bound on time is this much wider there, and no wider anywhere else.
 */
export async function lateWhileSleeping(ms: number): Promise<number> {
  const stepMs = 10;
  let late = 0;
  for (const end = now() + ms; now() < end;) {
    const before = now();
    await sleep(stepMs);
    const overMs = now() - before - stepMs;
    // A timer of Node is a millisecond or two late at any time.
    if (overMs > 5) late += overMs;
  }
  return late;
}

export const shown = (times: readonly number[]): string => times.map(Math.round).join(' and ');
