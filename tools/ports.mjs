// Free ports on this machine.
import { createServer } from 'node:net';

async function listen(port, host) {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const { port: taken } = server.address();
      server.close(() => resolve(taken));
    });
  });
}

/** Free on the loopback address and on all addresses: some systems let a second listener in on one of them. */
export async function isFree(port) {
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    try {
      await listen(port, host);
    } catch {
      return false;
    }
  }
  return true;
}

export const anyFreePort = () => listen(0, '127.0.0.1');

/** For each wanted port that port or, where it is taken, the next free one that nobody else here wants. */
export async function pickPorts(wanted, free = isFree) {
  const picked = [];
  for (const port of wanted) {
    let candidate = port;
    while (
      picked.includes(candidate) ||
      (candidate !== port && wanted.includes(candidate)) ||
      !(await free(candidate))
    ) {
      candidate += 1;
    }
    picked.push(candidate);
  }
  return picked;
}
