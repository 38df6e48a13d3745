import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Lifecycle } from './lifecycle.js';

export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/**
 * Which paths speak WebSocket. Any other offer to change the protocol is not taken, and the request is served as if there were
 * none: a WebSocket where there is none (404 from the router), `h2c` from a client that tries its luck with every request.
 */
@Injectable()
export class Upgrades {
  private readonly handlers = new Map<string, UpgradeHandler>();

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly lifecycle: Lifecycle,
  ) {}

  take(path: string, handler: UpgradeHandler): void {
    // From its first listener on, Node hands over whatever asks for an upgrade, and answers none of it by itself.
    if (this.handlers.size === 0) this.server.on('upgrade', (...offer) => this.offered(...offer));
    this.handlers.set(path, handler);
  }

  /** The request goes through the door once more, without its offer: one router, one shape of answer. */
  decline(request: IncomingMessage, socket: Duplex, head: Buffer = Buffer.alloc(0)): void {
    const { method, url, httpVersion, rawHeaders } = request;
    const lines = [`${method} ${url} HTTP/${httpVersion}`];
    // Whoever wanted a WebSocket has no other use for the connection: it ends with the answer.
    const dropped = new Set(isWebSocket(request) ? ['upgrade', 'connection'] : ['upgrade']);
    for (let at = 0; at < rawHeaders.length; at += 2) {
      if (!dropped.has(rawHeaders[at]!.toLowerCase())) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    }
    if (isWebSocket(request)) lines.push('Connection: close');
    // Node has read the head of the request as latin1; what came after it is still to be read.
    const bytes = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]);
    const again = () => {
      socket.unshift(bytes);
      this.server.emit('connection', socket);
    };
    // Sent behind another request, its turn comes when that one's answer is out.
    const unanswered = (socket as { _httpMessage?: ServerResponse })._httpMessage;
    if (unanswered) unanswered.once('close', () => !socket.destroyed && again());
    else again();
  }

  private offered(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { method, url = '' } = request;
    const handler = this.handlers.get(url.split('?', 1)[0]!);
    const taken = method === 'GET' && isWebSocket(request) && !this.lifecycle.stopping;
    if (handler && taken) handler(request, socket, head);
    else this.decline(request, socket, head);
  }

  private get server(): Server {
    return this.host.httpAdapter.getHttpServer() as Server;
  }
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}
