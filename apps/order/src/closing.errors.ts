import { defineProblems } from '@firstcome/http';

export const closingErrors = defineProblems({
  ORDER_NOT_CANCELLABLE: {
    status: 409,
    title: 'Order not cancellable',
    detail:
      'Only an order in PENDING_PAYMENT can be cancelled; `orderStatus` says what this one is. A PAID order is refunded.',
  },
  ORDER_NOT_REFUNDABLE: {
    status: 409,
    title: 'Order not refundable',
    detail:
      'Only a PAID order can be refunded, once; `orderStatus` says what this one is. An unpaid order is cancelled.',
  },
});
