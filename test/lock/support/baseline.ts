import { Redis } from 'ioredis';
import { until } from './waiting.js';

/** What a server knows of its clients and locks. Fence counters stay by design, so they do not count. */
export async function serverBaseline(port: number): Promise<{ keys: string[]; connections: number; patterns: number }> {
  const redis = new Redis(port);
  const keys = (await redis.keys('*')).filter((key) => !key.startsWith('lock:fence:'));
  const clients =
    String(await redis.client('LIST'))
      .trim()
      .split('\n').length - 1;
  const patterns = Number(await redis.pubsub('NUMPAT'));
  redis.disconnect();
  return { keys, connections: clients, patterns };
}

/** After a fault: heal, wait for quiet, then nothing may be left of the locks. */
export async function quiet(port: number, withinMs = 8000): Promise<void> {
  let left: string[] = [];
  await until(
    'no lock key is left',
    async () => {
      left = (await serverBaseline(port)).keys;
      return left.length === 0;
    },
    withinMs,
  ).catch(() => {
    throw new Error(`left behind: ${left.join(', ')}`);
  });
}
