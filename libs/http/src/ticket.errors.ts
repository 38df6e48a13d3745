import { defineProblems } from './problem.js';

export const ticketErrors = defineProblems({
  TICKET_NOT_FOUND: {
    status: 404,
    title: 'Ticket not found',
    detail: 'You have no ticket with this id. It stands in the 202 that accepted your request, and is kept for a day.',
  },
  // The lock's word for "too many wait already": here they wait in the database.
  LOCK_QUEUE_FULL: {
    status: 503,
    title: 'Too many wait already',
    detail: 'As many tickets wait as may. Nothing was done: repeat the request after the time in Retry-After.',
    retryable: true,
    retryAfterMs: 2000,
  },
});
