import type { IncomingHttpHeaders } from 'node:http';
import { httpErrors, parseId } from '@firstcome/http';
import { deskRoles } from './seat.js';
import type { Seat } from './seat.js';

/** `?couponId=42&role=editor`: each once, and nothing else. */
export function requestedSeat(url: string): Seat {
  const at = url.indexOf('?');
  const query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  const couponId = parseId(query.get('couponId') ?? undefined);
  const role = deskRoles.find((each) => each === query.get('role'));
  if (couponId === undefined || role === undefined || query.size !== 2) throw httpErrors.VALIDATION_FAILED();
  return { couponId, role };
}

/**
 * A browser says which page connects; what is no browser says nothing. Pages of this host may, and those of CORS_ORIGINS: for a
 * WebSocket browsers ask nobody whether they may.
 */
export function admitsOrigin({ origin, host }: IncomingHttpHeaders, allowed: readonly string[]): boolean {
  if (origin === undefined || allowed.includes(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}
