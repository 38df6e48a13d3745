import type { LockOptions } from '../src/index.js';

/** One way of waiting; plain data, because it travels to the worker processes. */
export interface Contender {
  name: string;
  options: LockOptions;
  /** Most leases under one grant; the library's own bound where it is not given. */
  handOver?: number;
}

export const pubsub: Contender = { name: 'pubsub', options: { strategy: 'pubsub' } };
/** Every waiter subscribed and contending by itself, as in the textbooks: all look after every release. */
export const textbook: Contender = { name: 'textbook pub/sub', options: { strategy: 'pubsub', localLine: false } };
export const queue: Contender = { name: 'queue', options: { strategy: 'queue' } };
export const spin: Contender = { name: 'spin', options: { strategy: 'spin' } };
export const adaptive: Contender = { name: 'adaptive', options: { strategy: 'adaptive' } };

export const withHandOver = (count: number): Contender => ({ ...pubsub, name: `hand-over ${count}`, handOver: count });
