/** The machine's monotonic clock in ms, so that times of two processes can be compared. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

export const until = (time: number): Promise<void> => sleep(time - now());
