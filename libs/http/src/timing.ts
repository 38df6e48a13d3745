import { requestContext } from './request-context.js';

export type TimedPart = 'lock' | 'hold' | 'db';

/** Adds what a part took to the Server-Timing of the request that runs now; without one it only runs it. */
export const timing = {
  async measure<R>(part: TimedPart, work: () => Promise<R>): Promise<R> {
    const context = requestContext.getStore();
    if (!context) return work();
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      context.timings[part] += performance.now() - startedAt;
    }
  },

  /** For a part that begins outside of the request: what this returns begins it, and what that returns ends it. */
  later(part: TimedPart): () => () => void {
    const context = requestContext.getStore();
    return () => {
      const startedAt = performance.now();
      return () => {
        if (context) context.timings[part] += performance.now() - startedAt;
      };
    };
  },

  /** For a part that ends somewhere inside another: the first call of what this returns ends it. */
  start(part: TimedPart): () => void {
    const context = requestContext.getStore();
    const startedAt = performance.now();
    let ended = false;
    return () => {
      if (context && !ended) context.timings[part] += performance.now() - startedAt;
      ended = true;
    };
  },
};

export function serverTiming(timings: Record<TimedPart, number>): string {
  const { lock, hold, db } = timings;
  return `lock;dur=${lock.toFixed(1)}, hold;dur=${hold.toFixed(1)}, db;dur=${db.toFixed(1)}`;
}
