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
