import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface PostgresProxy extends AsyncDisposable {
  url: string;
  /** From now on the reply to the next message that contains the text is lost: the server gets it, then a reset. */
  loseReplyTo(text: string): void;
  /** From now on nothing goes either way, and nobody is told. */
  blackHole(): void;
}

/** A wire to PostgreSQL that breaks where a spec says. */
export async function postgresProxy(target: string): Promise<PostgresProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let losing: string | undefined;
  let silent = false;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let lost = false;
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
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (lost) client.resetAndDestroy();
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
    blackHole: () => (silent = true),
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
