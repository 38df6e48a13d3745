import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Server, ServerResponse } from 'node:http';
import type { RequestContext } from './request-context.js';

const DRAIN_MS = 8_000;
const LAST_BYTES_MS = 100;

/**
 * Who is being served, and whether the process was asked to stop. Nest closes in this order: onModuleDestroy (here: not
 * ready, stop accepting), beforeApplicationShutdown (locks refuse new waits and let their holders finish), the server
 * (here: what was accepted is answered), onApplicationShutdown (the database and Redis). Within one step the order of modules
 * is open, so the drain is no beforeApplicationShutdown of its own: it would wait for the very waiters that locks refuse.
 */
@Injectable()
export class Lifecycle implements OnModuleDestroy {
  stopping = false;
  inFlight = 0;
  private drained: (() => void) | undefined;

  constructor(private readonly host: HttpAdapterHost) {}

  /** A request is in flight until its handler has answered and the answer is out, or nobody is left to read it. */
  begin(context: RequestContext, response: ServerResponse): void {
    this.inFlight += 1;
    response.once('close', () => {
      if (context.answered) this.finish();
    });
  }

  answered(context: RequestContext, response: ServerResponse): void {
    if (context.answered) return;
    context.answered = true;
    // The client went away while the handler worked: no more events will come.
    if (response.closed) this.finish();
  }

  private finish(): void {
    this.inFlight -= 1;
    if (this.inFlight === 0) this.drained?.();
  }

  onModuleDestroy(): void {
    this.stopping = true;
    const server = this.server();
    // Closes the idle connections too; the others are told to close by their next answer.
    if (server.listening) server.close();
  }

  /** Ends when every accepted request was answered, and then ends the connections. */
  async drain(): Promise<void> {
    if (this.inFlight > 0) await this.untilAnswered();
    const server = this.server();
    server.closeIdleConnections();
    // Then those that never sent a whole request; the answers before were handed to the system, let them leave.
    setTimeout(() => server.closeAllConnections(), LAST_BYTES_MS).unref();
  }

  private untilAnswered(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, DRAIN_MS);
      this.drained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private server(): Server {
    return this.host.httpAdapter.getHttpServer() as Server;
  }
}
