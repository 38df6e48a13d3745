import { Injectable, type BeforeApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Server } from 'node:http';

const DRAIN_MS = 8_000;
const LAST_BYTES_MS = 100;

/**
 * Who is being served, and whether the process was asked to stop. Nest closes in this order: onModuleDestroy (here: not
 * ready, stop accepting; locks: refuse new waits), beforeApplicationShutdown (here: finish what was accepted), the server,
 * onApplicationShutdown (the database and Redis).
 */
@Injectable()
export class Lifecycle implements OnModuleDestroy, BeforeApplicationShutdown {
  stopping = false;
  inFlight = 0;
  private drained: (() => void) | undefined;

  constructor(private readonly host: HttpAdapterHost) {}

  begin(): void {
    this.inFlight += 1;
  }

  finish(): void {
    this.inFlight -= 1;
    if (this.inFlight === 0) this.drained?.();
  }

  onModuleDestroy(): void {
    this.stopping = true;
    const server = this.server();
    // Closes the idle connections too; the others are told to close by their next answer.
    if (server.listening) server.close();
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (this.inFlight > 0) await this.drain();
    const server = this.server();
    server.closeIdleConnections();
    // Then those that never sent a whole request; the answers before were handed to the system, let them leave.
    setTimeout(() => server.closeAllConnections(), LAST_BYTES_MS).unref();
  }

  private drain(): Promise<void> {
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
