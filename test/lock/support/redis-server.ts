import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';

/** A Redis of a spec's own: to count its commands, stop it, wipe it. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export async function startRedisServer(args: string[] = [], port?: number): Promise<RedisServer> {
  const program = process.env['TEST_REDIS_SERVER_BIN'] ?? 'redis-server';
  const taken = port ?? (await freePort());
  const settings = ['--port', String(taken), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn(program, [...settings, ...args], { stdio: 'ignore' });
  const failed = once(child, 'error').then(([error]) => {
    throw new Error(`"${program}" does not start: set TEST_REDIS_SERVER_BIN to a redis-server`, { cause: error });
  });
  const redis = new Redis({ port: taken, retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  await Promise.race([redis.ping(), failed]);
  redis.disconnect();
  failed.catch(() => undefined);
  return {
    port: taken,
    url: `redis://127.0.0.1:${taken}`,
    process: child,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** The commands that clients send while `work` runs: MONITOR's lines, without those of scripts. */
export async function commandsDuring(server: RedisServer, work: () => Promise<void>): Promise<string[]> {
  const redis = new Redis(server.port);
  const monitor = await redis.monitor();
  const commands: string[] = [];
  const marks: string[] = [];
  monitor.on('monitor', (_time: string, args: string[], source: string) => {
    if (source === 'lua') return;
    if (args[0]?.toLowerCase() === 'echo') marks.push(args[1] ?? '');
    else if (marks.length === 1) commands.push(args[0]?.toLowerCase() ?? '');
  });
  const mark = async (name: string) => {
    await redis.echo(name);
    while (!marks.includes(name)) await new Promise(setImmediate);
  };
  await mark('begin');
  await work();
  await mark('end');
  monitor.disconnect();
  redis.disconnect();
  return commands;
}
