import type { Lease } from '@firstcome/lock';
import type { WebSocket } from 'ws';
import type { Seat } from './seat.js';

export interface DeskSession {
  readonly id: string;
  readonly seat: Seat;
  /** The lock of the seat. */
  readonly key: string;
  readonly lease: Lease;
  /** The session ends with it. */
  readonly token: string;
  readonly socket: WebSocket;
  /** It has answered the last ping. */
  alive: boolean;
}

type Known = Pick<DeskSession, 'id' | 'key'>;

/** Who sits where in this process, both ways without a search. */
export class DeskSessions<Session extends Known = DeskSession> {
  private readonly byId = new Map<string, Session>();
  private readonly bySeat = new Map<string, Session>();

  add(session: Session): void {
    this.byId.set(session.id, session);
    this.bySeat.set(session.key, session);
  }

  /** False when it was not there any more. */
  remove(session: Session): boolean {
    if (!this.byId.delete(session.id)) return false;
    // Whoever came after it keeps the seat.
    if (this.bySeat.get(session.key) === session) this.bySeat.delete(session.key);
    return true;
  }

  at(key: string): Session | undefined {
    return this.bySeat.get(key);
  }

  seatOf(id: string): string | undefined {
    return this.byId.get(id)?.key;
  }

  get size(): number {
    return this.byId.size;
  }

  [Symbol.iterator](): Iterator<Session> {
    return this.byId.values();
  }
}
