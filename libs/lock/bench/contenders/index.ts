import type { LockOptions } from '../../src/index.js';
import type { Open } from './contender.js';

export interface Contender {
  name: string;
  /** A failure or an overlap of ours ends the benchmark with 1; a peer's is a figure. */
  ours: boolean;
  /** How it waits, for the reader of a table. */
  waits: string;
  /** How many connections of a process listen once it is open; unknown of a peer. */
  listeners?: number;
  /** Only now, so that a peer that is not installed costs only its own figures. */
  load(): Promise<Open>;
}

const ours = (name: string, waits: string, options: LockOptions, handOver?: number): Contender => ({
  name,
  ours: true,
  waits,
  listeners: options.strategy === 'pubsub' || options.strategy === 'queue' ? 1 : 0,
  load: async () => (await import('./firstcome.js')).firstcome(options, handOver),
});
const peer = (name: string, waits: string, load: () => Promise<Open>): Contender => ({
  name,
  ours: false,
  waits,
  load,
});

/** What everybody is compared with. */
export const measure = 'pubsub';

export const contenders: readonly Contender[] = [
  ours('pubsub', 'is woken by the release; one contender per process', { strategy: 'pubsub' }),
  ours('queue', 'is handed the lock in order of arrival', { strategy: 'queue' }),
  ours('adaptive', 'looks after 5 to 200 ms', { strategy: 'adaptive' }),
  ours('spin', 'looks every 50 ms', { strategy: 'spin' }),
  ours('pubsub, no local line', 'as in the textbooks: everybody looks after every release', {
    strategy: 'pubsub',
    localLine: false,
  }),
  peer('naive pub/sub', 'everybody subscribes, and looks after every release', async () => {
    return (await import('./naive-pubsub.js')).naivePubsub;
  }),
  peer('redlock', 'looks every 200 ms, give or take 100', async () => (await import('./redlock.js')).redlock()),
  peer('redlock, 10 ms', 'looks every 10 ms, give or take 5', async () => {
    return (await import('./redlock.js')).redlock({ retryDelay: 10, retryJitter: 5 });
  }),
  peer('redis-semaphore', 'looks every 10 ms', async () => (await import('./redis-semaphore.js')).redisSemaphore),
  peer('redlock-universal', 'looks every 100 ms', async () => {
    return (await import('./redlock-universal.js')).redlockUniversal;
  }),
  peer('@verrou/core', 'looks every 250 ms', async () => (await import('./verrou.js')).verrou),
];

/** The bound of the hand-over inside a process: throughput against fairness to other processes. */
export const handOvers: readonly Contender[] = [1, 4, 16, 64, 256, 1000].map((count) =>
  ours(`hand-over ${count}`, `pubsub with at most ${count} leases under one grant`, { strategy: 'pubsub' }, count),
);

/** Not in any table unless it is asked for by name. */
export const control: Contender = {
  name: 'none',
  ours: true,
  waits: 'does not wait: no lock at all',
  load: async () => (await import('./none.js')).none,
};

export function contenderNamed(name: string): Contender {
  const found = [...contenders, ...handOvers, control].find((each) => each.name === name);
  if (!found) throw new Error(`no contender is called "${name}": ${contenders.map((each) => each.name).join('; ')}`);
  return found;
}
