import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

export interface Observed {
  args: string[];
  /** Run by a script, not sent by a client. */
  script: boolean;
}

/**
 * MONITOR on a plain socket: what clients send, in the order in which the server runs it. (ioredis' own monitor fails when a
 * line arrives before its connection knows that it is one.)
 */
export class Monitor {
  private constructor(private readonly socket: Socket) {}

  static async start(port: number, onCommand: (observed: Observed) => void): Promise<Monitor> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const lines = createInterface({ input: socket });
    const started = once(lines, 'line');
    socket.write('MONITOR\r\n');
    await started;
    lines.on('line', (line) => {
      const [, source, rest] = /^\+\S+ \[\d+ ([^\]]*)\] (.*)$/.exec(line) ?? [];
      if (rest === undefined) return;
      const args = Array.from(rest.matchAll(/"((?:[^"\\]|\\.)*)"/g), ([, arg]) => arg ?? '');
      onCommand({ args, script: source === 'lua' });
    });
    return new Monitor(socket);
  }

  async stop(): Promise<void> {
    this.socket.destroy();
    if (!this.socket.closed) await once(this.socket, 'close');
  }
}
