import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { now, sleep } from './clock.js';
import { CommandCount } from './command-count.js';

const ownName = 'firstcome-bench';

/** A server of the benchmark's own, without persistence: nobody else's load is measured, and nobody's data is touched. */
export class PrivateRedis {
  private constructor(
    readonly port: number,
    private readonly server: ChildProcess,
    private readonly redis: Redis,
  ) {}

  static async start(): Promise<PrivateRedis> {
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
    const options = { port, connectionName: ownName, retryStrategy: () => 20, maxRetriesPerRequest: null };
    const redis = new Redis(options);
    redis.on('error', () => undefined);
    await Promise.race([redis.ping(), failed]);
    failed.catch(() => undefined);
    return new PrivateRedis(port, server, redis);
  }

  async version(): Promise<string> {
    return /^redis_version:(\S+)/m.exec(await this.redis.info('server'))?.[1] ?? 'unknown';
  }

  /** CPU time of the server since its start. */
  async cpuMs(): Promise<number> {
    const info = await this.redis.info('cpu');
    const seconds = ['used_cpu_sys', 'used_cpu_user'].map((name) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1]);
    return seconds.reduce((sum, each) => sum + Number(each), 0) * 1000;
  }

  /** Of the contenders: without this one's own and that of MONITOR. */
  async connections(): Promise<number> {
    return (await this.#clients()).length;
  }

  /**
   * Libraries connect and subscribe in the background: until nothing has changed for a moment and, where it is known how many
   * connections will listen, that many do. After 10 s they never will.
   */
  async settled(listeners?: number): Promise<void> {
    const giveUpAt = now() + 10_000;
    for (let before = ''; now() < giveUpAt;) {
      const clients = await this.#clients();
      const listening = clients.filter((line) => / (?:sub|psub|ssub)=[1-9]/.test(line)).length;
      const seen = clients.map((line) => line.match(/\b(?:id|sub|psub|ssub)=\d+/g)?.join()).join(' ');
      if (seen === before && listening === (listeners ?? listening)) return;
      before = seen;
      await sleep(15);
    }
  }

  /** Counts what clients send from here on. */
  async countCommands(): Promise<CommandCount> {
    return CommandCount.start(this.port, async (mark) => void (await this.redis.echo(mark)));
  }

  async stop(): Promise<void> {
    this.redis.disconnect();
    const exited = once(this.server, 'exit');
    this.server.kill('SIGTERM');
    await exited;
  }

  async #clients(): Promise<string[]> {
    const lines = String(await this.redis.client('LIST')).trim();
    return lines.split('\n').filter((line) => !line.includes(` name=${ownName} `) && !line.includes(' cmd=monitor '));
  }
}
