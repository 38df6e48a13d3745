import { LockUsageError } from './errors.js';

export type StrategyName = 'pubsub' | 'spin' | 'adaptive' | 'queue';

/** The same everywhere: `withLock`, `acquire`, `tryAcquire`, `batch`, the pooled lock, the decorator. */
export interface LockOptions {
  /** How long the lock outlives a holder that died. 5000. */
  ttlMs?: number;
  /** The cap of the whole wait. 0 is one attempt. 10000. */
  waitMs?: number;
  /** A waiter that heard nothing looks again after this. 1000. */
  recheckMs?: number;
  /** The watchdog renews the lease at a third of its TTL. False is a fixed lease. true. */
  autoRenew?: boolean;
  /** Renewals end after this, so that a body that hangs does not hold for ever. One hour. */
  maxHoldMs?: number;
  strategy?: StrategyName;
  /** `queue`: 1 (first) .. 10. 5. */
  priority?: number;
  /** More waiters of a key than this are refused at once. 10000. */
  maxWaiters?: number;
  /** One contender per process and key, the others in line behind it. False: every waiter contends by itself. true. */
  localLine?: boolean;
  /** `withLock` inside `withLock` of the same key takes it again instead of throwing. false. */
  reentrant?: boolean;
  /** Who asks. The token is then `owner:random`: one GET of the lock says who has it. Whoever has an owner contends alone. */
  owner?: string;
  /** Ends the wait; a lease that is already held is not touched. */
  signal?: AbortSignal;
}

type WithoutDefault = 'owner' | 'signal';

export type ResolvedOptions = Required<Omit<LockOptions, WithoutDefault>> & Pick<LockOptions, WithoutDefault>;

export const defaultOptions: ResolvedOptions = {
  ttlMs: 5000,
  waitMs: 10_000,
  recheckMs: 1000,
  autoRenew: true,
  maxHoldMs: 3_600_000,
  strategy: 'pubsub',
  priority: 5,
  maxWaiters: 10_000,
  localLine: true,
  reentrant: false,
};

const dayMs = 86_400_000;
const maxOwnerBytes = 1024;
const known = new Set([...Object.keys(defaultOptions), 'owner', 'signal']);
const ranges: [keyof LockOptions, number, number][] = [
  ['ttlMs', 10, dayMs],
  ['waitMs', 0, dayMs],
  ['recheckMs', 1, dayMs],
  ['maxHoldMs', 1, dayMs],
  ['priority', 1, 10],
  ['maxWaiters', 1, 1_000_000],
];

/** Fills in the defaults and refuses what makes no sense, before any command is sent. */
export function resolveOptions(base: ResolvedOptions, given: LockOptions | undefined, key = ''): ResolvedOptions {
  if (given === undefined) return base;
  const resolved: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(given)) {
    if (!known.has(name)) throw new LockUsageError(`Unknown lock option "${name}".`, key);
    if (value !== undefined) resolved[name] = value;
  }
  const options = resolved as ResolvedOptions;
  for (const [name, min, max] of ranges) checkNumber(name, options[name], min, max, key);
  for (const name of ['autoRenew', 'localLine', 'reentrant'] as const) {
    if (typeof options[name] !== 'boolean') throw new LockUsageError(`${name} must be true or false.`, key);
  }
  const { owner } = options;
  if (owner !== undefined && (typeof owner !== 'string' || owner === '' || Buffer.byteLength(owner) > maxOwnerBytes)) {
    throw new LockUsageError(`owner must be a string of 1 to ${maxOwnerBytes} bytes.`, key);
  }
  if (options.signal !== undefined && typeof options.signal.addEventListener !== 'function') {
    throw new LockUsageError('signal must be an AbortSignal.', key);
  }
  return options;
}

export function checkNumber(name: string, value: unknown, min: number, max: number, key = ''): void {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw new LockUsageError(`${name} must be a whole number from ${min} to ${max}, not ${String(value)}.`, key);
  }
}
