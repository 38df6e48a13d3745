// What a block cost: the counters after it less those before.
import type { K6Run } from './k6.js';
import { sumOf } from './lib/prometheus.js';
import type { Counters, Peak } from './measure.js';

export interface Cost {
  redisCommands: number;
  redisScripts: number;
  /** What this runner did itself is not in it. */
  transactions: number;
  deadlocks: number;
  redisCpuSeconds: number;
  /** The figures of Redis are the sum of so many servers, those of `redlock` among them. Absent: of the main one alone. */
  redisServers?: number;
  appCpuSeconds?: number;
  postgresCpuSeconds?: number;
  k6CpuSeconds?: number;
  safetyNetTrips?: number;
  optimisticRetries?: number;
  meanBatch?: number;
  peak: Peak;
}

export function costOf(before: Counters, after: Counters, run: K6Run, peak: Peak): Cost {
  const grown = (name: string) => {
    const [from, to] = [sumOf(before.samples, name) ?? 0, sumOf(after.samples, name)];
    return to === undefined ? undefined : to - from;
  };
  const difference = (name: 'appCpuSeconds' | 'postgresCpuSeconds') => {
    const [from, to] = [before[name], after[name]];
    return from === undefined || to === undefined ? {} : { [name]: round(to - from) };
  };
  const trips = grown('firstcome_safety_net_trips_total');
  const retries = grown('firstcome_optimistic_retries_total');
  const batches = grown('firstcome_batch_size_count');
  return {
    redisCommands: after.redisCommands - before.redisCommands,
    redisScripts: after.redisScripts - before.redisScripts,
    transactions: after.transactions - before.transactions,
    deadlocks: after.deadlocks - before.deadlocks,
    redisCpuSeconds: round(after.redisCpuSeconds - before.redisCpuSeconds),
    ...(after.redisServers !== undefined && { redisServers: after.redisServers }),
    ...difference('appCpuSeconds'),
    ...difference('postgresCpuSeconds'),
    ...(run.cpuSeconds !== undefined && { k6CpuSeconds: run.cpuSeconds }),
    ...(trips !== undefined && { safetyNetTrips: trips }),
    ...(retries !== undefined && { optimisticRetries: retries }),
    ...(batches && { meanBatch: round((grown('firstcome_batch_size_sum') ?? 0) / batches) }),
    peak,
  };
}

const round = (value: number) => Math.round(value * 1000) / 1000;
