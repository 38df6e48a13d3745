import { Redis } from 'ioredis';
import { until } from './waiting.js';

/** What a server knows of its clients and locks. Fence counters stay by design, so they do not count. */
export async function serverBaseline(
  port: number,
): Promise<{ keys: string[]; connections: number; subscribers: number }> {
  const redis = new Redis(port);
  const keys = (await redis.keys('*')).filter((key) => !key.includes('lock:fence:'));
  const clients =
    String(await redis.client('LIST'))
      .trim()
      .split('\n').length - 1;
  // Those whose subscription is acknowledged; NUMPAT would count patterns, and all have the same.
  const listening = String(await redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub'));
  const subscribers = listening.match(/ psub=1 /g)?.length ?? 0;
  redis.disconnect();
  return { keys, connections: clients, subscribers };
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
