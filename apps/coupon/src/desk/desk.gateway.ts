import type { IncomingMessage } from 'node:http';
import { httpErrors, socketToken, TokenVerifier, Upgrades, uuidv7 } from '@firstcome/http';
import type { User } from '@firstcome/http';
import { storeSaidLost } from '@firstcome/lock';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { WebSocket, WebSocketServer } from 'ws';
import { CONFIG } from '../config.js';
import type { Config } from '../config.js';
import { couponErrors } from '../coupon.errors.js';
import { closeOf, unexpectedMessage } from './close.js';
import { DeskService, SEAT_TTL_MS } from './desk.service.js';
import { admitsOrigin, requestedSeat } from './handshake.js';
import { deskSessions } from './metrics.js';
import { seatKey } from './seat.js';
import { DeskSessions } from './sessions.js';
import type { DeskSession } from './sessions.js';

const MAX_SOCKETS = 1000;
// Twice this is the longest that a dead socket goes unnoticed, and less than the TTL of its seat.
const HEARTBEAT_MS = SEAT_TTL_MS / 3;
const socketOptions = {
  noServer: true,
  maxPayload: 1024,
  // How long a client may take to answer a close; ws cuts it off then.
  closeTimeout: 1000,
  // The token, which was offered beside it, is never sent back.
  handleProtocols: (offered: Set<string>) => offered.has('bearer') && 'bearer',
};

/**
 * `WS /v1/desk`: a seat for as long as the socket lives. Whoever asks is let in first and refused then: a page is shown a close
 * code, and never the status of a handshake.
 */
@Injectable()
export class DeskGateway implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Desk');
  private readonly server = new WebSocketServer(socketOptions);
  private readonly sessions = new DeskSessions();
  private heartbeat: NodeJS.Timeout | undefined;
  private stopping = false;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly upgrades: Upgrades,
    private readonly tokens: TokenVerifier,
    private readonly desk: DeskService,
  ) {}

  onModuleInit(): void {
    this.upgrades.take('/v1/desk', (request, socket, head) =>
      this.server.handleUpgrade(request, socket, head, (client) => this.open(client, request)),
    );
    // No handshake that ws could complete: an ordinary request then, which the route answers.
    this.server.on('wsClientError', (_error, socket, request) => this.upgrades.decline(request, socket));
    // A loop that was blocked runs its timers before it reads the pongs that lie there: judged only after one reading.
    this.heartbeat = setInterval(() => setImmediate(() => this.beat()), HEARTBEAT_MS).unref();
  }

  /** Before the locks end: seats are free when their sockets hear of it, so that the next instance has them to give. */
  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    clearInterval(this.heartbeat);
    await Promise.all([...this.sessions].map((session) => this.leave(session)));
    for (const socket of this.server.clients) this.end(socket, httpErrors.SHUTTING_DOWN());
  }

  private open(socket: WebSocket, request: IncomingMessage): void {
    // Whatever breaks a socket closes it as well.
    socket.on('error', () => undefined);
    socket.on('message', () => socket.close(unexpectedMessage.code, unexpectedMessage.reason));
    this.sit(socket, request).catch((error: unknown) => this.end(socket, error));
  }

  private async sit(socket: WebSocket, request: IncomingMessage): Promise<void> {
    const { user, token } = await this.admit(request);
    const seat = requestedSeat(request.url ?? '');
    const key = seatKey(seat);
    const seated = this.sessions.at(key);
    // Asked for its loss, a lease that is over by the clock is lost now, and its session leaves.
    if (seated && !seated.lease.loss) throw couponErrors.DESK_TAKEN();
    const id = uuidv7();
    const lease = await this.desk.take(seat, { userId: user.id, sessionId: id });
    if (this.stopping || socket.readyState !== WebSocket.OPEN) {
      await lease.release();
      return;
    }
    const session: DeskSession = { id, seat, key, lease, token, socket, alive: true };
    this.sessions.add(session);
    deskSessions.inc({ role: seat.role });
    socket.on('pong', () => (session.alive = true));
    socket.on('close', () => void this.leave(session));
    lease.signal.addEventListener('abort', () => this.lose(session), { once: true });
    socket.send(JSON.stringify({ type: 'seated', ...seat, sessionId: id }));
  }

  private async admit({ headers }: IncomingMessage): Promise<{ user: User; token: string }> {
    if (this.stopping) throw httpErrors.SHUTTING_DOWN();
    if (this.server.clients.size > MAX_SOCKETS) throw httpErrors.RATE_LIMITED();
    if (!admitsOrigin(headers, this.config.corsOrigins)) throw httpErrors.FORBIDDEN();
    const token = socketToken(headers) ?? '';
    const user = await this.tokens.userOf(token);
    if (!user) throw httpErrors.UNAUTHENTICATED();
    if (!user.admin) throw httpErrors.FORBIDDEN();
    return { user, token };
  }

  private beat(): void {
    for (const session of this.sessions) {
      if (!session.alive) {
        session.socket.terminate();
        void this.leave(session);
        continue;
      }
      session.alive = false;
      session.socket.ping();
      if (!this.tokens.cached(session.token)) void this.checkToken(session);
    }
  }

  private async checkToken(session: DeskSession): Promise<void> {
    if (await this.tokens.verify(session.token)) return;
    await this.leave(session);
    this.end(session.socket, httpErrors.UNAUTHENTICATED());
  }

  /** "Not yours", said Redis: somebody else's. Without an answer until the local deadline: nobody knows whose. */
  private lose(session: DeskSession): void {
    const { loss } = session.lease;
    this.end(session.socket, loss?.reason === storeSaidLost ? couponErrors.DESK_TAKEN() : loss);
    void this.leave(session);
  }

  /** Frees the seat, once; never rejects. Only its own token is taken away. */
  private async leave(session: DeskSession): Promise<void> {
    if (!this.sessions.remove(session)) return;
    deskSessions.dec({ role: session.seat.role });
    await session.lease.release();
  }

  private end(socket: WebSocket, error: unknown): void {
    const { code, reason } = closeOf(error);
    if (reason === 'INTERNAL_ERROR') this.logger.error({ err: error }, 'A desk session failed.');
    socket.close(code, reason);
  }
}
