import { collectDefaultMetrics, Histogram, register, type Registry } from 'prom-client';

/** The one registry of the process. It is prom-client's own, so that no library has to import another to be counted. */
export const metricsRegistry: Registry = register;

const DURATION = 'firstcome_http_request_seconds';

/** Safe to call twice: tests start several apps in one process. */
export function httpDuration(): Histogram<'method' | 'route' | 'status'> {
  const existing = register.getSingleMetric(DURATION);
  if (existing) return existing as Histogram<'method' | 'route' | 'status'>;
  collectDefaultMetrics();
  return new Histogram({
    name: DURATION,
    help: 'Time from the first byte of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
  });
}
