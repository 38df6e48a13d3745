import type { Answer, IdempotentRequest } from '@firstcome/http';

/** One user's request for one coupon. */
export interface Grab {
  couponId: number;
  userId: string;
  request: IdempotentRequest;
  /** By the clock of `performance.now()`: the one deadline of all waits and retries of this request (LOCK_WAIT_MS). */
  deadline: number;
}

/** How grabs of one coupon take turns. Every strategy runs the same critical section; only the turn differs. */
export interface IssueStrategy {
  issue(grab: Grab): Promise<Answer>;
}

/** The first is the default. */
export const issueStrategyNames: [string, ...string[]] = [
  'batched',
  'atomic',
  'optimistic',
  'pessimistic',
  'advisory',
  'spin',
  'adaptive',
  'pubsub',
  'queue',
  'redlock',
  'none',
];

/** What is left of the request's time, 1 ms at least: who comes late still looks once. */
export const msLeft = ({ deadline }: Grab): number => Math.max(1, Math.round(deadline - performance.now()));
