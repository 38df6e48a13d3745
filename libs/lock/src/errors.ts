export type LockErrorCode =
  | 'LOCK_TIMEOUT'
  | 'LOCK_BUSY'
  | 'LOCK_LOST'
  | 'LOCK_ABORTED'
  | 'LOCK_BACKEND_UNAVAILABLE'
  | 'LOCK_QUEUE_FULL'
  | 'STALE_FENCE'
  | 'LOCK_USAGE';

export interface LockErrorDetails {
  key: string;
  waitedMs?: number;
  cause?: unknown;
}

/** Everything this library throws. `code` is the contract, the message is for people. */
export abstract class LockError extends Error {
  abstract readonly code: LockErrorCode;
  readonly key: string;
  readonly waitedMs: number;
  /** What the application wants its clients to be told. */
  failureMessage?: string;

  constructor(message: string, details: LockErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.key = details.key;
    this.waitedMs = Math.round(details.waitedMs ?? 0);
  }
}

/** The wait reached `waitMs` while somebody else held the lock. */
export class LockWaitTimeoutError extends LockError {
  readonly code = 'LOCK_TIMEOUT';
  constructor(details: LockErrorDetails) {
    super(
      `Lock "${details.key}" was not free within ${Math.round(details.waitedMs ?? 0)} ms: try again later.`,
      details,
    );
  }
}

/** A single attempt (`waitMs: 0`) found the lock held. */
export class LockBusyError extends LockError {
  readonly code = 'LOCK_BUSY';
  constructor(details: LockErrorDetails) {
    super(`Lock "${details.key}" is held by somebody else: try again later, or set waitMs to wait for it.`, details);
  }
}

/** The lease can no longer be trusted. What the body did is unknown unless a fence guarded it: repeat idempotently. */
export class LockLostError extends LockError {
  readonly code = 'LOCK_LOST';
  constructor(
    readonly reason: string,
    details: LockErrorDetails,
  ) {
    super(
      `Lock "${details.key}" was lost (${reason}): do not write any more, and treat the outcome as unknown.`,
      details,
    );
  }
}

/** The caller's signal was aborted, or the client is closing. */
export class LockAbortedError extends LockError {
  readonly code = 'LOCK_ABORTED';
  constructor(
    readonly reason: 'signal' | 'closing',
    details: LockErrorDetails,
  ) {
    super(
      reason === 'closing'
        ? `Lock "${details.key}" is not waited for: this lock client is closing.`
        : `The wait for lock "${details.key}" was aborted by its signal.`,
      details,
    );
  }
}

/** The store did not answer, or answered with an error: nobody knows whether the lock is free. Never means "held". */
export class LockBackendError extends LockError {
  readonly code = 'LOCK_BACKEND_UNAVAILABLE';
  constructor(message: string, details: LockErrorDetails) {
    super(`The lock store could not be used for "${details.key}": ${message}`, details);
  }
}

/** More waiters than `maxWaiters`: refused at once, with the place the caller would have had and an estimate. */
export class LockQueueFullError extends LockError {
  readonly code = 'LOCK_QUEUE_FULL';
  constructor(
    readonly place: number,
    readonly estimateMs: number,
    details: LockErrorDetails,
  ) {
    super(
      `The line for lock "${details.key}" is full: this would be place ${place}, about ${Math.round(estimateMs)} ms away.`,
      details,
    );
  }
}

/** A guard refused a write: somebody with a newer fence has already written. */
export class StaleFenceError extends LockError {
  readonly code = 'STALE_FENCE';
  constructor(
    readonly fence: number,
    readonly guardFence: number,
    details: LockErrorDetails,
  ) {
    super(
      `Fence ${fence} of "${details.key}" is older than ${guardFence}: a later holder has written, nothing was done.`,
      details,
    );
  }
}

/** The call itself is wrong (key, option, re-entry): no command was sent. */
export class LockUsageError extends LockError {
  readonly code = 'LOCK_USAGE';
  constructor(message: string, key: unknown = '') {
    super(message, { key: typeof key === 'string' ? key.slice(0, 64) : '' });
  }
}
