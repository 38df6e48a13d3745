// One process of the benchmark: as many waiters as it is told, each taking its turns under one lock until the block is over.
import type { Answer, Block, Measured, Order, Times } from './block.js';
import { now, sleep, until } from './clock.js';
import type { OpenContender } from './contenders/contender.js';
import { contenderNamed } from './contenders/index.js';

/** So long a library has, after the end, to refuse those who still wait. */
const drainMs = 300;

const compiled = new Set<string>();
const failures = new Map<string, number>();
let block: Block;
let opened: OpenContender;
let endAt = Infinity;
let everybody: Promise<unknown> = Promise.resolve();

/** Without the names of keys and numbers: one line a kind of failure. */
function count(prefix: string, error: unknown): void {
  // What fails after the end is refused because it is the end.
  if (now() >= endAt) return;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const message = `${prefix}${text.replaceAll(block.key, '<key>').replaceAll(/\d+/g, 'N')}`;
  failures.set(message, (failures.get(message) ?? 0) + 1);
}
process.on('unhandledRejection', (error) => count('nobody handled: ', error));

async function open(given: Block): Promise<void> {
  block = given;
  endAt = Infinity;
  failures.clear();
  opened = await (await contenderNamed(block.contender).load())(block.port);
  const alone = `${block.key}:alone:${process.pid}`;
  const grownUpAt = now() + (compiled.has(block.contender) ? 0 : block.youthMs);
  do await opened.withLock(alone, async () => undefined);
  while (now() < grownUpAt);
  compiled.add(block.contender);
}

async function run(times: Times): Promise<Measured> {
  const { key, waiters, turns, holdMs } = block;
  endAt = times.endAt;
  const taken: number[] = [];
  let served = 0;
  let inside = 0;
  let used = process.cpuUsage();
  const waiter = async () => {
    let had = false;
    for (let tries = 0; tries < turns && now() < endAt; tries += 1) {
      const asked = now();
      try {
        await opened.withLock(key, async () => {
          const granted = now();
          if (granted >= endAt) return;
          inside += 1;
          if (holdMs > 0) await sleep(holdMs);
          taken.push(asked, granted, now());
          inside -= 1;
          if (!had) served += 1;
          had = true;
        });
      } catch (error) {
        count('', error);
        // A library that refuses at once would never let the process come to anything else.
        await sleep(1);
      }
    }
  };

  await until(times.startAt);
  everybody = Promise.all(Array.from({ length: waiters }, waiter));
  void until(times.beginAt).then(() => {
    used = process.cpuUsage();
  });
  await Promise.race([everybody, until(endAt)]);
  const doneAt = Math.min(now(), endAt);
  const { user, system } = process.cpuUsage(used);
  const starved = waiters - served;
  // Who holds it at the end is seen to its end: the next one must not be inside before.
  while (inside > 0) await sleep(1);
  return {
    turns: Float64Array.from(taken),
    failures: Object.fromEntries(failures),
    starved,
    cpuMs: (user + system) / 1000,
    doneAt,
  };
}

async function close(): Promise<boolean> {
  endAt = 0;
  const closed = opened.close().catch(() => undefined);
  return Promise.race([Promise.all([everybody, closed]).then(() => true), sleep(drainMs).then(() => false)]);
}

async function answer(order: Order): Promise<Answer> {
  if ('close' in order) return { drained: await close() };
  if ('go' in order) return { measured: await run(order.go) };
  await open(order.open);
  return { ready: true };
}
process.on('message', (order: Order) => {
  answer(order).then(
    (answered) => process.send?.(answered),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});
process.once('disconnect', () => process.exit(0));
