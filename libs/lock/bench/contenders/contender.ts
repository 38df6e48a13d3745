import { Redis } from 'ioredis';

/** One way of taking turns under a lock in Redis. Siblings of one shape: a diff of two files is their difference. */
export interface OpenContender {
  /** Resolves when the body has run and the lock was released; rejects when the library gives up. */
  withLock(key: string, body: () => Promise<void>): Promise<void>;
  /** Closes what it opened. Whoever still waits is refused, or goes on for ever: then the process is ended. */
  close(): Promise<void>;
}

export type Open = (port: number) => Promise<OpenContender>;

/** The same for all. */
export const ttlMs = 5000;
/** Longer than any block: a wait that fails earlier fails for a reason of the library's own. */
export const patienceMs = 60_000;

/** Each contender has one client of the same kind, with ioredis' own settings. */
export async function connect(port: number): Promise<Redis> {
  const redis = new Redis({ host: '127.0.0.1', port });
  redis.on('error', () => undefined);
  await redis.ping();
  return redis;
}
