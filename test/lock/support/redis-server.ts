import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Monitor } from './monitor.js';

/** A Redis of a spec's own: to count its commands, stop it, wipe it. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly process: ChildProcess;
  /** SIGKILL: what it had not written is gone. */
  stop(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing is answered, until `resume`. */
  hang(): void;
  resume(): void;
}

const program = process.env['TEST_REDIS_SERVER_BIN'] ?? 'redis-server';

/** Specs that stop, wipe or count a Redis need the program itself; the shipped one runs inside a process that is not theirs. */
export const redisServerMissing = spawnSync(program, ['--version']).status !== 0;
if (redisServerMissing) console.warn(`Skipped: no "${program}". Install Redis, or set TEST_REDIS_SERVER_BIN.`);

/** What a killed test run would leave behind. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export async function startRedisServer(args: string[] = [], port?: number, config?: string): Promise<RedisServer> {
  const taken = port ?? (await freePort());
  const settings = ['--port', String(taken), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const dir = mkdtempSync(join(tmpdir(), 'firstcome-redis-'));
  const child = spawn(program, [...(config ? [config] : []), ...settings, '--dir', dir, ...args], {
    stdio: 'ignore',
  });
  running.add(child);
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
      running.delete(child);
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGCONT');
        child.kill('SIGKILL');
        await exited;
      }
      rmSync(dir, { recursive: true, force: true });
    },
    hang: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}

/** The commands that clients send while `work` runs: MONITOR's lines, without those of scripts. */
export async function commandsDuring(server: RedisServer, work: () => Promise<void>): Promise<string[]> {
  const commands: string[] = [];
  const marks: string[] = [];
  const monitor = await Monitor.start(server.port, ({ args: [command = '', first = ''], script }) => {
    if (script) return;
    if (command.toLowerCase() === 'echo') marks.push(first);
    else if (marks.length === 1) commands.push(command.toLowerCase());
  });
  const redis = new Redis(server.port);
  const mark = async (name: string) => {
    await redis.echo(name);
    while (!marks.includes(name)) await new Promise(setImmediate);
  };
  await mark('begin');
  await work();
  await mark('end');
  redis.disconnect();
  await monitor.stop();
  return commands;
}
