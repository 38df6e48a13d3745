import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, startRedisServer, type RedisServer } from './redis-server.js';
import { until } from './waiting.js';

export interface SentinelTrio {
  readonly sentinels: number[];
  /** The server that is the primary now. */
  primary(): Promise<RedisServer>;
  /** How often the primary has changed. */
  failovers(): Promise<number>;
  stop(): Promise<void>;
}

/** A primary, a replica, and three sentinels that agree by two. */
export async function startSentinelTrio(downAfterMs: number): Promise<SentinelTrio> {
  const first = await startRedisServer(['--repl-diskless-sync-delay', '0']);
  const second = await startRedisServer(['--replicaof', '127.0.0.1', String(first.port)]);
  const data = [first, second];
  const folder = mkdtempSync(join(tmpdir(), 'firstcome-sentinel-'));
  const watching = async () => {
    const port = await freePort();
    const config = join(folder, `${port}.conf`);
    // Sentinel keeps its state in its configuration file, so it wants one of its own.
    const lines = [
      `sentinel monitor firstcome 127.0.0.1 ${first.port} 2`,
      `sentinel down-after-milliseconds firstcome ${downAfterMs}`,
      'sentinel failover-timeout firstcome 5000',
      'sentinel parallel-syncs firstcome 1',
    ];
    writeFileSync(config, `${lines.join('\n')}\n`);
    return startRedisServer(['--sentinel'], port, config);
  };
  const sentinels = [await watching(), await watching(), await watching()];
  const asking = new Redis(sentinels[0]!.port, { maxRetriesPerRequest: null });
  const state = async () => {
    const [flat] = (await asking.call('SENTINEL', 'MASTERS')) as string[][];
    const fields = new Map<string, string>();
    for (let index = 0; flat && index < flat.length; index += 2) fields.set(flat[index]!, flat[index + 1]!);
    return fields;
  };
  await until('the sentinels know each other and the replica', async () => {
    const fields = await state();
    return fields.get('num-other-sentinels') === '2' && fields.get('num-slaves') === '1';
  });
  await until('the replica follows', async () => (await roleOf(second.port)) === 'replica, connected');
  return {
    sentinels: sentinels.map(({ port }) => port),
    primary: async () => {
      const port = Number((await state()).get('port'));
      return data.find((each) => each.port === port)!;
    },
    failovers: async () => Number((await state()).get('config-epoch')),
    stop: async () => {
      asking.disconnect();
      await Promise.all([...sentinels, ...data].map((each) => each.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function roleOf(port: number): Promise<string> {
  const redis = new Redis(port);
  const info = await redis.info('replication');
  redis.disconnect();
  return info.includes('role:slave') && info.includes('master_link_status:up') ? 'replica, connected' : 'other';
}
