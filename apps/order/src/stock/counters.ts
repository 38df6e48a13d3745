import { metricsRegistry } from '@firstcome/http';
import { isCheckViolation } from '@firstcome/postgres';
import { Counter } from 'prom-client';
import { optionErrors } from '../option.errors.js';
import type { StockStrategyName } from './strategy.js';

// Found, not made, where another app of the same process (in tests) has made it.
function counter(name: string, help: string): Counter<'strategy'> {
  const existing = metricsRegistry.getSingleMetric(name);
  return (existing as Counter<'strategy'>) ?? new Counter({ name, help, labelNames: ['strategy'] });
}

export const optimisticRetries = counter(
  'firstcome_optimistic_retries_total',
  'Transactions run again because a version had changed',
);
export const deadlockVictims = counter(
  'firstcome_deadlock_victims_total',
  'Transactions that PostgreSQL ended to break a deadlock',
);
const safetyNetTrips = counter(
  'firstcome_safety_net_trips_total',
  'Steps that a strategy had promised and the database refused',
);

/** The database refused what the strategy had just promised: counted, undone, and answered as contention. */
export function safetyNetTrip(strategy: StockStrategyName, cause?: unknown): Error {
  safetyNetTrips.inc({ strategy });
  return optionErrors.CONCURRENT_UPDATE({ cause });
}

/** Runs a reservation; where the CHECK on the option is what stops it, that is a trip. */
export async function underSafetyNet<R>(strategy: StockStrategyName, reserve: () => Promise<R>): Promise<R> {
  try {
    return await reserve();
  } catch (error) {
    throw isCheckViolation(error, 'options_never_oversold') ? safetyNetTrip(strategy, error) : error;
  }
}
