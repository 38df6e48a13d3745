import { defineProblems } from '@firstcome/http';

export const walletErrors = defineProblems({
  BALANCE_LIMIT_EXCEEDED: {
    status: 422,
    title: 'Balance limit exceeded',
    detail: 'A wallet holds at most 10000000 points. Nothing was charged: charge less, or spend some first.',
  },
  INSUFFICIENT_POINTS: {
    status: 409,
    title: 'Insufficient points',
    detail:
      'The balance is below the total. Nothing was paid: charge points with POST /v1/me/points/charges, then pay again with a new key.',
  },
});
