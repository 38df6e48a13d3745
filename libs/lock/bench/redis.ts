import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Redis } from 'ioredis';

export interface PrivateRedis {
  port: number;
  stop(): Promise<void>;
}

/** A server of the benchmark's own, without persistence: nobody else's load is measured, and nobody's data is touched. */
export async function startRedis(): Promise<PrivateRedis> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', settings, { stdio: 'ignore' });
  const failed = once(server, 'error').then(([error]) => {
    throw new Error('the benchmark needs a native redis-server on the PATH', { cause: error });
  });
  process.once('exit', () => server.kill('SIGKILL'));
  const redis = new Redis({ port, retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  await Promise.race([redis.ping(), failed]);
  failed.catch(() => undefined);
  redis.disconnect();
  return {
    port,
    stop: async () => {
      const exited = once(server, 'exit');
      server.kill('SIGTERM');
      await exited;
    },
  };
}
