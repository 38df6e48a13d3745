import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { seeded } from './random.js';

type Direction = 'requests' | 'replies';

/** One direction of one connection: chunks in order, each when it is due. */
class Pipe {
  readonly #queue: { chunk: Buffer; dueAt: number }[] = [];
  #timer?: NodeJS.Timeout;

  constructor(
    private readonly to: Socket,
    private readonly held: () => boolean,
  ) {}

  push(chunk: Buffer, delayMs: number): void {
    const last = this.#queue.at(-1)?.dueAt ?? 0;
    this.#queue.push({ chunk, dueAt: Math.max(last, performance.now() + delayMs) });
    this.pump();
  }

  pump(): void {
    clearTimeout(this.#timer);
    while (this.#queue[0] && !this.held()) {
      const waitMs = this.#queue[0].dueAt - performance.now();
      if (waitMs > 0.5) {
        this.#timer = setTimeout(() => this.pump(), waitMs);
        return;
      }
      this.to.write(this.#queue.shift()!.chunk);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#queue.length = 0;
  }
}

class Connection {
  readonly requests: Pipe;
  readonly replies: Pipe;
  dropsReplies = false;

  constructor(
    readonly client: Socket,
    readonly server: Socket,
    held: (direction: Direction) => boolean,
  ) {
    this.requests = new Pipe(server, () => held('requests'));
    this.replies = new Pipe(client, () => held('replies'));
  }

  reset(): void {
    this.requests.close();
    this.replies.close();
    this.client.resetAndDestroy();
    this.server.resetAndDestroy();
  }
}

/**
 * A TCP proxy that misbehaves on demand. A black hole keeps what it swallowed and delivers it when healed, as TCP does
 * with what it has to send again: so late effects are part of the fault.
 */
export class Proxy {
  delayMs = 0;
  jitterMs = 0;
  /** How often a fault really happened: a spec whose fault never bit must not pass. */
  readonly bites = { held: 0, repliesDropped: 0, cut: 0, refused: 0 };
  readonly #connections = new Set<Connection>();
  readonly #holes = new Set<Direction>();
  #refusing = false;
  #dropReplyTo: { text: string; bitten(): void }[] = [];

  private constructor(
    private readonly server: Server,
    readonly port: number,
    private readonly random: () => number,
  ) {}

  static async start(targetPort: number, seed = 1): Promise<Proxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new Proxy(server, (server.address() as AddressInfo).port, seeded(seed));
    server.on('connection', (client) => proxy.#join(client, targetPort));
    return proxy;
  }

  get connections(): number {
    return this.#connections.size;
  }

  blackHole(direction: Direction): void {
    this.#holes.add(direction);
  }

  /** Lets the next request that contains the text through, drops its reply and resets the connection. Resolves when it has. */
  dropReplyTo(text: string): Promise<void> {
    return new Promise((bitten) => this.#dropReplyTo.push({ text, bitten }));
  }

  /** Resets every connection. */
  cut(): void {
    for (const connection of this.#connections) {
      this.bites.cut += 1;
      connection.reset();
    }
  }

  refuse(): void {
    this.#refusing = true;
    this.cut();
  }

  heal(): void {
    this.#holes.clear();
    this.#refusing = false;
    this.#dropReplyTo = [];
    this.delayMs = 0;
    this.jitterMs = 0;
    for (const { requests, replies } of this.#connections) {
      requests.pump();
      replies.pump();
    }
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.reset();
    this.server.close();
    await once(this.server, 'close');
  }

  #join(client: Socket, targetPort: number): void {
    client.on('error', () => undefined);
    if (this.#refusing) {
      this.bites.refused += 1;
      client.resetAndDestroy();
      return;
    }
    const server = connect(targetPort, '127.0.0.1');
    client.setNoDelay(true);
    server.setNoDelay(true);
    const connection = new Connection(client, server, (direction) => this.#holes.has(direction));
    this.#connections.add(connection);
    const part = () => {
      this.#connections.delete(connection);
      connection.reset();
    };
    server.on('error', () => undefined);
    client.on('data', (chunk) => this.#onRequest(connection, chunk));
    server.on('data', (chunk) => this.#onReply(connection, chunk));
    client.on('close', part);
    server.on('close', part);
  }

  #onRequest(connection: Connection, chunk: Buffer): void {
    const order = this.#dropReplyTo.find(({ text }) => chunk.includes(text));
    if (order) {
      this.#dropReplyTo = this.#dropReplyTo.filter((other) => other !== order);
      connection.dropsReplies = true;
      connection.server.once('data', () => {
        this.bites.repliesDropped += 1;
        connection.reset();
        order.bitten();
      });
    }
    if (this.#holes.has('requests')) this.bites.held += 1;
    connection.requests.push(chunk, this.#delay());
  }

  #onReply(connection: Connection, chunk: Buffer): void {
    if (connection.dropsReplies) return;
    if (this.#holes.has('replies')) this.bites.held += 1;
    connection.replies.push(chunk, this.#delay());
  }

  #delay(): number {
    return this.delayMs + this.jitterMs * this.random();
  }
}
