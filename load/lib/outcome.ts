// What a client may believe after an answer. Pure, and without imports: k6 and Node both run this file.

/**
 * - `acknowledged`: it happened, and the client was told so;
 * - `refused`: a final "no" of the business: it did not happen and will not;
 * - `contended`: it did not happen, the client may try again (a lock, a limit or a full queue was in the way);
 * - `unknown`: it may have happened (no answer, a lost lock, a COMMIT whose fate nobody saw);
 * - `unexpected`: an answer that the contract does not have here. One of these turns a run red.
 */
export type Outcome = 'acknowledged' | 'refused' | 'contended' | 'unknown' | 'unexpected';

export const outcomes: readonly Outcome[] = ['acknowledged', 'refused', 'contended', 'unknown', 'unexpected'];

const finalCodes = new Set([
  '409 COUPON_SOLD_OUT',
  '409 COUPON_ALREADY_ISSUED',
  '409 COUPON_NOT_STARTED',
  '409 COUPON_ENDED',
  '409 COUPON_PAUSED',
  '409 OUT_OF_STOCK',
  '409 COUPON_NOT_USABLE',
  '409 PRICE_CHANGED',
  '409 INSUFFICIENT_POINTS',
  '409 ORDER_NOT_PAYABLE',
  '409 ORDER_EXPIRED',
  '409 ORDER_NOT_CANCELLABLE',
  '409 ORDER_NOT_REFUNDABLE',
]);

const contendedCodes = new Set([
  '409 CONCURRENT_UPDATE',
  '409 IDEMPOTENCY_IN_PROGRESS',
  // The server never had the whole request: k6 was too busy to send it.
  '408 REQUEST_TIMEOUT',
  '429 RATE_LIMITED',
  '503 LOCK_TIMEOUT',
  '503 LOCK_QUEUE_FULL',
  '503 LOCK_BACKEND_UNAVAILABLE',
  '503 SHUTTING_DOWN',
]);

// The database or the other app went away while somebody else was working for us: COMMIT may have gone through.
const unknownCodes = new Set(['503 LOCK_LOST', '503 DATABASE_UNAVAILABLE', '503 UPSTREAM_UNAVAILABLE']);

/** `code` is the `code` of the problem document, '' where there was none; status 0 is "no answer". */
export function classify(status: number, code: string): Outcome {
  if (status === 0) return 'unknown';
  if (status === 200 || status === 201) return 'acknowledged';
  const answer = `${status} ${code}`;
  if (finalCodes.has(answer)) return 'refused';
  if (contendedCodes.has(answer)) return 'contended';
  if (unknownCodes.has(answer)) return 'unknown';
  return 'unexpected';
}

/** What a latency belongs to: a fast "sold out" must not average down a slow "issued". */
export function outcomeName(outcome: Outcome, code: string, status: number): string {
  if (outcome === 'acknowledged') return 'acknowledged';
  if (status === 0) return 'no answer';
  return code === '' ? `status ${status}` : code;
}
