import type { Redis } from 'ioredis';
import { redisStore } from '../redis/index.js';
import type { StoreFactory } from '../store.js';
import { redlockOf, type RedlockOptions } from './redlock-store.js';

/** Locks on the majority of independent Redis servers (not replicas of one another, not a Cluster). */
export function redlockStore(
  clients: readonly Redis[],
  options: RedlockOptions & { nodeTimeoutMs?: number } = {},
): StoreFactory {
  const { nodeTimeoutMs = 500, ...rest } = options;
  return redlockOf(
    clients.map((client) => redisStore(client, { callTimeoutMs: nodeTimeoutMs })),
    rest,
  );
}
