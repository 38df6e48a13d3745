import { metricsRegistry } from '@firstcome/http';
import { Counter } from 'prom-client';

/** Tests start several apps in one process: the second finds what the first has made. */
function counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
  const existing = metricsRegistry.getSingleMetric(name) as Counter<Label> | undefined;
  return existing ?? new Counter({ name, help, labelNames, registers: [metricsRegistry] });
}

/** A constraint or a fence refused a step that the strategy had just promised would succeed. */
export const safetyNetTrips = counter(
  'firstcome_safety_net_trips_total',
  'Steps that the database refused although the strategy had promised them.',
  ['strategy'],
);

export const optimisticRetries = counter(
  'firstcome_optimistic_retries_total',
  'Attempts that were repeated because somebody else had changed the row meanwhile.',
  ['strategy'],
);
