import { AsyncLocalStorage } from 'node:async_hooks';

/** What one request carries along: its id for every log line, and its timings. */
export interface RequestContext {
  requestId: string;
  /** The handler has answered, whether or not anybody is there to read it. */
  answered: boolean;
  timings: { lock: number; hold: number; db: number };
}

export const requestContext = new AsyncLocalStorage<RequestContext>();
