// What the runner tells a k6 scenario: written to a file before a block, named to k6 by the variable INPUT.
import type { Phase } from './arrivals.js';

export interface K6Input {
  phases: Phase[];
  /** At most so many users wait at once; more arrivals than that are dropped, and a block with drops is refused. */
  maxWaiting: number;
  /** Only the search for the knee may drop: there it is the finding. */
  dropsAllowed: boolean;
  /** The base URLs of the instances, asked in turn. */
  urls: string[];
  /** One bearer token per line; line n is the token of user n. */
  tokensFile: string;
  /** User n is called `${userPrefix}${n}`; idempotency keys begin with it too. */
  userPrefix: string;
  /** The lab header that chooses the strategy. */
  strategyHeader?: { name: string; value: string };
  summaryFile: string;
  seed: number;
  /** One coupon, or several that are asked for in turn. */
  couponIds?: number[];
  /** Paths that the probe of `bleed` reads, in turn. */
  probePaths?: string[];
  optionIds?: number[];
  productIds?: number[];
  /** One line per user: the user coupon it pays with, or an empty line. */
  userCouponsFile?: string;
  /** One order id per line; order k lapses at `firstExpiryMs` + k x `expirySpacingMs`. */
  ordersFile?: string;
  /** How many users own the orders of the race: order k is user k's. */
  firstExpiryMs?: number;
  expirySpacingMs?: number;
}
