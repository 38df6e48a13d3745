// One process of the benchmark: as many waiters as it is told, each taking its turn again and again until the block is over.
import { Redis } from 'ioredis';
import { createLocks, redisStore } from '../src/index.js';
import type { Block, Measured } from './workers.js';

const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function run({ port, key, contender, waiters, warmUpMs, measureMs, holdMs }: Block): Promise<Measured> {
  const redis = new Redis(port);
  const { handOver, options } = contender;
  const locks = createLocks({
    store: redisStore(redis),
    defaults: { ...options, waitMs: 600_000 },
    ...(handOver === undefined ? {} : { handOver: { count: handOver, ms: 60_000 } }),
  });
  await locks.withLock(`${key}:warm-up:${process.pid}`, async () => undefined);
  const begin = now() + warmUpMs;
  const end = begin + measureMs;
  const measured: Measured = { turns: [], waitsMs: [], starved: 0, cpuMs: 0 };
  let used: NodeJS.CpuUsage | undefined;
  const waiter = async () => {
    let turns = 0;
    while (now() < end) {
      const askedAt = now();
      await locks.withLock(key, async () => {
        const grantedAt = now();
        if (holdMs > 0) await sleep(holdMs);
        if (grantedAt < begin) return;
        used ??= process.cpuUsage();
        if (grantedAt > end) return;
        turns += 1;
        measured.waitsMs.push(grantedAt - askedAt);
        measured.turns.push([grantedAt, now()]);
      });
    }
    measured.cpuMs ||= cpuMsSince(used);
    // Waiting is over for all, so the line drains: what is granted after the end is not counted.
    if (turns === 0) measured.starved += 1;
  };
  await Promise.all(Array.from({ length: waiters }, waiter));
  await locks.close();
  redis.disconnect();
  return measured;
}

function cpuMsSince(used: NodeJS.CpuUsage | undefined): number {
  if (!used) return 0;
  const { user, system } = process.cpuUsage(used);
  return (user + system) / 1000;
}

process.on('message', (block: Block) => {
  run(block).then(
    (measured) => process.send?.({ measured }),
    (error: Error) => process.send?.({ error: error.stack }),
  );
});
process.once('disconnect', () => process.exit(0));
