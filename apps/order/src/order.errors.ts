import { defineProblems } from '@firstcome/http';

export const orderErrors = defineProblems({
  ORDER_NOT_FOUND: {
    status: 404,
    title: 'Order not found',
    detail: 'You have no order with this id. GET /v1/me/orders lists yours.',
  },
  PRICE_CHANGED: {
    status: 409,
    title: 'Price changed',
    detail:
      'The total is not the expectedTotal that was sent. Nothing was ordered: show the user `total`, then order again.',
  },
  COUPON_NOT_USABLE: {
    status: 409,
    title: 'Coupon not usable',
    detail: 'The user coupon cannot be used for this order. Nothing was ordered: order again without userCouponId.',
  },
  MIN_ORDER_NOT_MET: {
    status: 422,
    title: 'Minimum order not met',
    detail: 'The subtotal is below what the coupon asks for. Nothing was ordered: order more, or without userCouponId.',
  },
  UPSTREAM_UNAVAILABLE: {
    status: 503,
    title: 'The coupon service cannot be used right now',
    detail: 'Nothing was ordered. Repeat the request with the same Idempotency-Key, or order without userCouponId.',
    retryable: true,
    retryAfterMs: 1000,
  },
  QUANTITY_LIMIT_EXCEEDED: {
    status: 422,
    title: 'Quantity limit exceeded',
    detail:
      'An order takes at most 1000 of one option, all its items together. errors[] names the option: ask for less.',
  },
  TOTAL_LIMIT_EXCEEDED: {
    status: 422,
    title: 'Total limit exceeded',
    detail: 'The subtotal is above 9007199254740991, which no total can hold. Order less at once.',
  },
});
