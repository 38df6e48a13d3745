import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** What the benchmark itself sends while it counts. */
const own = new Set(['echo', 'client', 'info']);

/**
 * Commands that clients send, by MONITOR: its lines without those that scripts ran. It slows the server down, so nothing is
 * timed while it counts. Two marks in the server's own order say where the count begins and ends.
 */
export class CommandCount {
  readonly #byName = new Map<string, number>();
  readonly #seen = new Set<string>();

  private constructor(
    private readonly socket: Socket,
    private readonly echo: (mark: string) => Promise<void>,
  ) {}

  static async start(port: number, echo: (mark: string) => Promise<void>): Promise<CommandCount> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const lines = createInterface({ input: socket });
    const started = once(lines, 'line');
    socket.write('MONITOR\r\n');
    await started;
    const count = new CommandCount(socket, echo);
    lines.on('line', (line) => count.#hear(line));
    await count.#mark('begin');
    count.#byName.clear();
    return count;
  }

  /** Everything that was sent until now. */
  async read(): Promise<Record<string, number>> {
    await this.#mark('end');
    return Object.fromEntries(this.#byName);
  }

  stop(): void {
    this.socket.destroy();
  }

  #hear(line: string): void {
    const [, source, command = '', first = ''] = /^\+\S+ \[\d+ (\S+)\] "([^"]*)"(?: "([^"]*)")?/.exec(line) ?? [];
    if (source === undefined || source === 'lua') return;
    const name = command.toLowerCase();
    if (name === 'echo') this.#seen.add(first);
    if (!own.has(name)) this.#byName.set(name, (this.#byName.get(name) ?? 0) + 1);
  }

  async #mark(mark: string): Promise<void> {
    await this.echo(mark);
    while (!this.#seen.has(mark)) await new Promise(setImmediate);
  }
}
