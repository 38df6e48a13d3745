import type { LockOptions } from '../../options.js';
import type { OperationPlan, Plan } from '../simulation/plan.js';

/** Fixed leases in one line, each of which works for nearly half of its TTL. */
export function tight(plan: Plan): void {
  plan.handOver = { count: 64, ms: 5000 };
  for (const { kind, options, ...rest } of plan.operations) {
    if (kind === 'batch' || kind === 'nested') continue;
    Object.assign(options, { ttlMs: 1000, autoRenew: false, localLine: true });
    Object.assign(plan.operations[rest.id]!, { workMs: 400, extendMs: undefined });
  }
}

/** An operator takes the lock away in the middle. */
export function forced(plan: Plan): void {
  plan.handOver.count = 1;
  const [first] = plan.operations.filter(({ kind }) => kind === 'acquire');
  if (first) first.kind = 'force';
}

/** Short leases, extended by the first of a line and handed on, while requests lie about in connections that are gone. */
export function extended(plan: Plan): void {
  plan.fates = { astray: 0.4 };
  plan.faults = [];
  plan.faultsUntilMs = 10_000;
  plan.handOver = { count: 64, ms: 5000 };
  for (const process of plan.processes) process.onBreak = 'resend';
  const extending = new Set<number>();
  for (const operation of plan.operations) {
    const { kind, options, process } = operation;
    if (kind !== 'acquire' && kind !== 'withLock') continue;
    Object.assign(options, { ttlMs: 300, autoRenew: false, waitMs: 20_000, recheckMs: 50, localLine: true });
    Object.assign(operation, { workMs: 250, abortAfterMs: undefined, extendMs: undefined });
    if (kind === 'acquire' && !extending.has(process)) operation.extendMs = 5000;
    extending.add(process);
  }
}

/** Fixed leases, each of which its holder shortens, over a wire that loses answers. */
export function shortened(plan: Plan): void {
  plan.fates = { 'reply lost': 0.3 };
  plan.faults = [];
  plan.faultsUntilMs = 10_000;
  plan.callTimeoutMs = 1000;
  for (const operation of plan.operations) {
    if (operation.kind !== 'acquire') continue;
    Object.assign(operation.options, { ttlMs: 5000, autoRenew: false, waitMs: 20_000, recheckMs: 50 });
    Object.assign(operation, { workMs: 100, extendMs: 100 });
  }
}

/** A holder is killed, and of those who wait in another process's queue one after the other gives up. */
export function chained(plan: Plan): void {
  const options: LockOptions = { ttlMs: 1000, recheckMs: 3000, waitMs: 20_000, strategy: 'queue', autoRenew: true };
  const base = { kind: 'acquire', keys: ['a'], workMs: 0 } as const;
  const waiters = Array.from({ length: 12 }, (_, at): OperationPlan => {
    return {
      ...base,
      keys: ['a'],
      id: at + 1,
      atMs: 10 + at,
      process: 1,
      options: { ...options, waitMs: 500 * (at + 1) },
    };
  });
  plan.operations = [{ ...base, keys: ['a'], id: 0, atMs: 0, process: 0, options, workMs: 60_000 }, ...waiters];
  plan.processes = [0, 1].map(() => ({ rate: 1, onBreak: 'resend' }));
  plan.delayMs = [0.2, 3];
  plan.callTimeoutMs = 100;
  plan.fates = {};
  plan.faults = [{ kind: 'kill process', atMs: 5, ms: 0, process: 0, host: 0 }];
  plan.faultsUntilMs = 100;
}
