import { defineProblems } from '@firstcome/http';

export const optionErrors = defineProblems({
  OPTION_NOT_FOUND: {
    status: 404,
    title: 'Option not found',
    detail: 'There is no such option; errors[] names each one. GET /v1/products lists what can be ordered.',
  },
  OUT_OF_STOCK: {
    status: 409,
    title: 'Out of stock',
    detail:
      'Nothing was reserved. errors[] names each option that falls short and what is available of it: ask for that much or less.',
  },
  CONCURRENT_UPDATE: {
    status: 409,
    title: 'Somebody else was faster',
    detail: 'The same options are ordered by many at this moment, and nothing was reserved. Repeat the request.',
    retryable: true,
    retryAfterMs: 100,
  },
  STOCK_NEGATIVE: {
    status: 409,
    title: 'Stock would be negative',
    detail:
      'The adjustment takes more than is available: what orders have reserved cannot be taken. Take at most `available`.',
  },
  STOCK_LIMIT_EXCEEDED: {
    status: 422,
    title: 'Stock limit exceeded',
    detail: 'An option holds at most 1000000000000 pieces. Add less.',
  },
  STRATEGY_UNKNOWN: {
    status: 400,
    title: 'Strategy unknown',
    detail: 'X-Stock-Strategy names no strategy of this service. Send one of those listed, or leave the header out.',
  },
});
