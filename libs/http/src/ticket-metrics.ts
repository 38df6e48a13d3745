import { Gauge } from 'prom-client';
import { metricsRegistry } from './metrics.js';

/** Tests start several apps in one process: the second finds what the first has made. */
const gauge = (name: string, help: string): Gauge =>
  (metricsRegistry.getSingleMetric(name) as Gauge | undefined) ??
  new Gauge({ name, help, registers: [metricsRegistry] });

/** Looked at under LOCK_BACKEND_DOWN=defer only. Both are of the whole table, so every instance tells the same: take the largest, not the sum. */
export const ticketMetrics = {
  waiting: gauge('firstcome_tickets_waiting', 'Tickets that wait for their turn, as last looked, over all instances.'),
  oldest: gauge('firstcome_tickets_oldest_seconds', 'For how long the oldest of them has waited; 0 where none waits.'),
};
