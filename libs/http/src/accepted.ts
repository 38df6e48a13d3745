import type { Answer } from './idempotency.js';

/** The answer to a request that was taken in and is decided later: its ticket tells how it went. */
export function accepted(ticketId: string): Answer {
  const headers = { location: `/v1/me/tickets/${ticketId}` };
  return { status: 202, body: JSON.stringify({ ticketId }), replayed: false, headers };
}

/** The same again, byte for byte; where the ticket is follows from the body. */
export function acceptedAgain(body: string): Answer {
  const { ticketId } = JSON.parse(body) as { ticketId: string };
  return { ...accepted(ticketId), body, replayed: true };
}
