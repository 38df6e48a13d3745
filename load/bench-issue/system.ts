import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Who came to an instance, and when by the machine's monotonic clock, in milliseconds. */
export type Arrival = [user: string, at: number];

export interface Servers {
  couponDatabaseUrl: string;
  redisUrl: string;
  redlockUrls: string;
  logs: string;
}

export const jwtSecret = 'only-for-the-benchmark-0123456789-0123456789';

/** An instance of the built app in a process of its own. */
export class Instance {
  private constructor(
    readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(name: string, servers: Servers, started: (child: ChildProcess) => void): Promise<Instance> {
    mkdirSync(servers.logs, { recursive: true });
    const log = openSync(join(servers.logs, `${name}.log`), 'a');
    const child = fork(fileURLToPath(new URL('./instance.mjs', import.meta.url)), [], {
      // With PROFILE=folder each instance leaves a CPU profile there.
      execArgv: process.env['PROFILE'] ? ['--cpu-prof', `--cpu-prof-dir=${process.env['PROFILE']}`] : [],
      env: environment(servers),
      stdio: ['ignore', log, log, 'ipc'],
    });
    started(child);
    const ready = once(child, 'message') as Promise<[{ url: string }]>;
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`${name} ended with ${code} before it was ready: see ${servers.logs}`);
    });
    const [{ url }] = await Promise.race([ready, ended]);
    ended.catch(() => undefined);
    return new Instance(child, url);
  }

  /** The book of arrivals since the last time, in the order in which they came. */
  async arrivals(): Promise<Arrival[]> {
    const answered = once(this.child, 'message') as Promise<[{ arrivals: Arrival[] }]>;
    this.child.send('arrivals');
    return (await answered)[0].arrivals;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exited;
  }
}

/** That of `npm start`: the lab is open, limits are off, everything else is the default. */
function environment({ couponDatabaseUrl, redisUrl, redlockUrls }: Servers): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    COUPON_DATABASE_URL: couponDatabaseUrl,
    REDIS_URL: redisUrl,
    REDLOCK_URLS: redlockUrls,
    HOST: '127.0.0.1',
    PORT: '0',
    JWT_SECRET: jwtSecret,
    SERVICE_TOKEN: 'only-for-the-benchmark',
    LAB: '1',
    RATE_LIMIT_USER: '0',
    RATE_LIMIT_ADDRESS: '0',
    RATE_LIMIT_COUPON: '0',
  };
}
