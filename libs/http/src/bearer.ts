import type { IncomingHttpHeaders } from 'node:http';

const AUTHORIZATION = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i;
const SUBPROTOCOLS = /^\s*bearer\s*,\s*([A-Za-z0-9._~+-]+)\s*$/;

export function bearerToken({ authorization }: IncomingHttpHeaders): string | undefined {
  return AUTHORIZATION.exec(authorization ?? '')?.[1];
}

/** Of a WebSocket: a page can send no header of its own, but it can ask for the subprotocols `bearer, <token>`. */
export function socketToken(headers: IncomingHttpHeaders): string | undefined {
  if (headers.authorization !== undefined) return bearerToken(headers);
  return SUBPROTOCOLS.exec(headers['sec-websocket-protocol'] ?? '')?.[1];
}
