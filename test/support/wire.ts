import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Held {
  letGo(): void;
}

export interface Wire extends AsyncDisposable {
  url: string;
  /** From now on the reply to the next message that contains the text is lost: the server gets it, then a reset. */
  loseReplyTo(text: string): void;
  /** Keeps the next message that contains the text from the server; or lets it through and keeps the reply from the client. */
  hold(what: 'request' | 'reply', text: string): Promise<Held>;
  /** From now on nothing goes either way, and nobody is told. */
  blackHole(): void;
}

interface Trap {
  what: 'request' | 'reply';
  text: string;
  caught: (held: Held) => void;
}

/** A wire to a server, PostgreSQL or HTTP, that breaks where a spec says. */
export async function wireTo(target: string): Promise<Wire> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let losing: string | undefined;
  let silent = false;
  let trap: Trap | undefined;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let lost = false;
    // What is kept back of each direction, once a trap has closed behind this connection.
    let requests: Buffer[] | undefined;
    let replies: Buffer[] | undefined;
    let expected: Trap | undefined;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk) => {
      if (silent) return;
      if (losing !== undefined && chunk.includes(losing)) {
        lost = true;
        losing = undefined;
      }
      if (trap && chunk.includes(trap.text)) {
        const { what, caught } = trap;
        if (what === 'reply') expected = trap;
        trap = undefined;
        if (what === 'request') {
          requests = [];
          caught({
            letGo: () => {
              for (const kept of requests!) upstream.write(kept);
              requests = undefined;
            },
          });
        }
      }
      if (requests) requests.push(chunk);
      else upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (expected) {
        replies = [];
        expected.caught({
          letGo: () => {
            for (const kept of replies!) client.write(kept);
            replies = undefined;
          },
        });
        expected = undefined;
      }
      if (lost) client.resetAndDestroy();
      else if (replies) replies.push(chunk);
      else if (!silent) client.write(chunk);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    loseReplyTo: (text) => (losing = text),
    hold: (what, text) => new Promise((caught) => (trap = { what, text, caught })),
    blackHole: () => (silent = true),
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
