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
