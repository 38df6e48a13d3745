import type { Lease } from './lease.js';
import type { Locks } from './locks.js';
import type { LockOptions } from './options.js';

/** One key's lock as an object: what `obtain` hands out, and keeps for the next who asks for the key. */
export class Lock {
  constructor(
    private readonly locks: Locks,
    readonly key: string,
  ) {}

  acquire(options?: LockOptions): Promise<Lease> {
    return this.locks.acquire(this.key, options);
  }

  tryAcquire(options?: LockOptions): Promise<Lease | null> {
    return this.locks.tryAcquire(this.key, options);
  }

  withLock<R>(body: (lease: Lease) => Promise<R>, options?: LockOptions): Promise<R> {
    return this.locks.withLock(this.key, body, options);
  }

  isLocked(): Promise<boolean> {
    return this.locks.isLocked(this.key);
  }
}
