// What the figures were measured on and with: without it a number is a rumour.
import { spawnSync } from 'node:child_process';
import { cpus, release, totalmem, type as osType } from 'node:os';
import type { K6 } from './k6.js';
import { rowsOf } from './stores.js';
import type { Stores } from './stores.js';
import type { System } from './system.js';

export interface Environment {
  date: string;
  commit: string;
  /** Files changed since that commit: then it is not what was measured. */
  uncommitted: number;
  machine: { system: string; cpu: string; cores: number; memoryGb: number };
  versions: { node: string; k6: string; k6From: string; postgres: string; redis: string };
  instances: { coupon: number; order: number };
  /** Of Redis: what each server keeps of a crash, where it may be asked. */
  settings: { postgres: Record<string, string>; lock: Record<string, string>; redis?: Record<string, string> };
  command: string;
}

const git = (...args: string[]): string => spawnSync('git', args, { encoding: 'utf8' }).stdout?.trim() ?? '';

export async function describeEnvironment(
  system: System,
  stores: Stores,
  k6: K6,
  command: string,
): Promise<Environment> {
  const postgres = await rowsOf<{ name: string; setting: string }>(
    stores.coupon,
    `select name, setting from pg_settings where name in ('server_version', 'fsync', 'synchronous_commit', 'shared_buffers', 'max_connections') order by name`,
  );
  const settings = Object.fromEntries(postgres.map(({ name, setting }) => [name, setting]));
  const redis = /^(?:redis|valkey)_version:(.+)$/m.exec(await stores.redis.info('server'))?.[1]?.trim() ?? 'unknown';
  return {
    date: new Date().toISOString(),
    commit: git('rev-parse', '--short=7', 'HEAD') || 'unknown',
    uncommitted: git('status', '--porcelain', '--untracked-files=no').split('\n').filter(Boolean).length,
    machine: {
      system: `${osType()} ${release()}`,
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cores: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
    },
    versions: {
      node: process.version,
      k6: k6.version,
      k6From: k6.source,
      postgres: settings['server_version'] ?? 'unknown',
      redis,
    },
    instances: { coupon: system.coupon.length, order: system.order.length },
    settings: { postgres: settings, lock: lockSettings(), ...(await redisSettings(stores)) },
    command,
  };
}

/** As the contract has them, where the caller of npm start did not choose: the instances got the same environment. */
function lockSettings(): Record<string, string> {
  const defaults = {
    LOCK_TTL_MS: '5000',
    LOCK_WAIT_MS: '10000',
    LOCK_RECHECK_MS: '1000',
    DATABASE_POOL_SIZE: '10',
  };
  return Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, process.env[name] ?? value]));
}

/** A server of somebody else's may keep its settings to itself: then nothing is said of it. */
async function redisSettings({ lockStores }: Stores): Promise<{ redis?: Record<string, string> }> {
  const said: Record<string, string> = {};
  for (const [place, redis] of lockStores.entries()) {
    const name = place === 0 ? 'appendonly' : `appendonly of redlock ${place}`;
    const [, value] = await redis.config('GET', 'appendonly').then(
      (answer) => answer as string[],
      () => [],
    );
    if (value !== undefined) said[name] = value;
  }
  return Object.keys(said).length > 0 ? { redis: said } : {};
}
