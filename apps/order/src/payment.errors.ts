import { defineProblems } from '@firstcome/http';

export const paymentErrors = defineProblems({
  ORDER_NOT_PAYABLE: {
    status: 409,
    title: 'Order not payable',
    detail:
      'Only an order in PENDING_PAYMENT can be paid; `orderStatus` says what this one is. GET /v1/orders/{id} shows it.',
  },
  ORDER_EXPIRED: {
    status: 409,
    title: 'Order expired',
    detail: 'The order was not paid before its expiresAt, and its stock is being given back. Order again.',
  },
});
