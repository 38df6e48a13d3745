import { WebSocket } from 'ws';
import { tokenFor } from './tokens.js';

export interface Told {
  /** The first message, of whoever is seated. */
  seated?: { type: string; couponId: number; role: string; sessionId: string };
  /** Of whoever is not: how the socket was closed. */
  code?: number;
  reason?: string;
}

export interface Visitor {
  socket: WebSocket;
  /** What came first. */
  told: Promise<Told>;
  /** How it ended. */
  closed: Promise<Told>;
}

export interface Visit {
  token?: string;
  protocols?: string[];
  headers?: Record<string, string>;
  /** False: the spec answers pings itself. */
  autoPong?: boolean;
}

const here = new Set<WebSocket>();

/** A socket at a desk, by whatever token: a spec says what comes of it. */
export function knock(
  base: string,
  query: string,
  { token, protocols = [], headers = {}, autoPong = true }: Visit = {},
): Visitor {
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const url = `${base.replace('http', 'ws')}/v1/desk${query}`;
  const socket = new WebSocket(url, protocols, { autoPong, headers: { ...authorization, ...headers } });
  here.add(socket);
  // Whatever goes wrong is followed by the close that the spec waits for.
  socket.on('error', () => undefined);
  const closed = new Promise<Told>((resolve) =>
    socket.once('close', (code, reason) => {
      here.delete(socket);
      resolve({ code, reason: reason.toString('utf8') });
    }),
  );
  const welcomed = new Promise<Told>((resolve) =>
    socket.once('message', (data: Buffer) => resolve({ seated: JSON.parse(data.toString('utf8')) as Told['seated'] })),
  );
  return { socket, closed, told: Promise.race([welcomed, closed]) };
}

/** An administrator who asks for a seat. */
export async function sit(base: string, couponId: number, role: string, user = 'ann'): Promise<Visitor> {
  return knock(base, `?couponId=${couponId}&role=${role}`, { token: await tokenFor(user, { role: 'admin' }) });
}

/** One who has it, or the spec ends here. */
export async function seated(base: string, couponId: number, role: string, user = 'ann') {
  const visitor = await sit(base, couponId, role, user);
  const told = await visitor.told;
  if (!told.seated) throw new Error(`${user} got no seat: ${told.code} ${told.reason}`);
  return { ...visitor, sessionId: told.seated.sessionId };
}

/** After a test nobody sits there any more who would keep an instance from its end. */
export function everybodyLeaves(): void {
  for (const socket of here) socket.terminate();
}
