import type { Answer, IdempotentRequest } from '@firstcome/http';

/** One user's request for one coupon. */
export interface Grab {
  couponId: number;
  userId: string;
  request: IdempotentRequest;
}

/** How grabs of one coupon take turns. Every strategy runs the same critical section; only the turn differs. */
export interface IssueStrategy {
  issue(grab: Grab): Promise<Answer>;
}

export const issueStrategyNames: [string, ...string[]] = ['atomic', 'pubsub'];
