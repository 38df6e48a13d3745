import { AsyncLocalStorage } from 'node:async_hooks';

/** What one request carries along: its id for every log line, and its timings. */
export interface RequestContext {
  requestId: string;
  timings: { lock: number; hold: number; db: number };
}

export const requestContext = new AsyncLocalStorage<RequestContext>();
