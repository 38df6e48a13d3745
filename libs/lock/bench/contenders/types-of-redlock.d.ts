/** Of redlock 5.0.0-beta.2 what is used here: it ships types, and an `exports` map that hides them. */
declare module 'redlock' {
  import type { Redis } from 'ioredis';

  interface Settings {
    retryCount: number;
    retryDelay: number;
    retryJitter: number;
  }
  export default class Redlock {
    constructor(clients: Iterable<Redis>, settings?: Partial<Settings>);
    using<T>(
      resources: string[],
      durationMs: number,
      settings: Partial<Settings>,
      routine: (signal: AbortSignal) => Promise<T>,
    ): Promise<T>;
  }
}
