import { once } from 'node:events';
import { connect } from 'node:net';

/** How many commands clients sent meanwhile. INFO cannot tell: it counts those inside scripts too. MONITOR names its sources. */
export async function commandsDuring(redisUrl: string, work: () => Promise<unknown>): Promise<number> {
  const { hostname, port } = new URL(redisUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let commands = 0;
  let rest = '';
  const started = once(socket, 'data');
  socket.write('MONITOR\r\n');
  await started;
  socket.on('data', (chunk) => {
    const lines = (rest + chunk.toString('latin1')).split('\r\n');
    rest = lines.pop()!;
    for (const line of lines) if (/^\+\S+ \[\d+ (?!lua\])/.test(line)) commands += 1;
  });
  await work();
  // What it has seen comes in order: after the last of the work comes this connection's end.
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  return commands;
}
