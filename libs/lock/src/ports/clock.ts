/** A pending timer; `unref` lets the process end although it is pending. */
export interface Timer {
  unref?(): unknown;
}

/**
 * All the time the library knows. Leases are judged by `now()`, so it must be monotonic: a wall clock that is set back
 * would keep a dead lease alive. Tests put virtual time behind this.
 */
export interface Clock {
  /** Monotonic milliseconds since an arbitrary start. */
  now(): number;
  setTimeout(callback: () => void, ms: number): Timer;
  clearTimeout(timer: Timer): void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Rejects with `late()` when the promise has not settled in time. What it settles to later is the caller's to handle. */
export function withDeadline<T>(clock: Clock, ms: number, promise: Promise<T>, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = clock.setTimeout(() => reject(late()), ms);
    promise.then(
      (value) => {
        clock.clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clock.clearTimeout(timer);
        reject(error as Error);
      },
    );
  });
}

export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.setTimeout(resolve, ms));
}
