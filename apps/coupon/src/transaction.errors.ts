import { defineProblems } from '@firstcome/http';

export const transactionErrors = defineProblems({
  TRANSACTION_NOT_FOUND: {
    status: 404,
    title: 'Transaction not found',
    detail: 'Nothing was ever prepared under this gid. Prepare it first; what is not prepared cannot be committed.',
  },
  TRANSACTION_DECIDED: {
    status: 409,
    title: 'Transaction decided the other way',
    detail: 'The transaction has ended already, as `outcome` says, and stays so. Whoever decides must not change it.',
  },
});
