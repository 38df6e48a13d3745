import { createRequire } from 'node:module';
import type * as Prometheus from 'prom-client';
import type { LockEvent, LockObserver } from './events.js';
import { boundedLabels, templateOf } from './key.js';

export interface LockMetricsOptions {
  /** The label of a key. Must be of low cardinality: never the id. `coupon:issue:42` becomes `coupon:issue:*`. */
  labelOf?: (key: string) => string;
}

const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const about = ['lock', 'strategy', 'outcome'] as const;

/** Prometheus metrics of a client: `createLocks({ store, onEvent: lockMetrics(registry) })`. Needs prom-client. */
export function lockMetrics(registry: Prometheus.Registry, options: LockMetricsOptions = {}): LockObserver {
  // Loaded here because it is an optional peer: who asks for metrics has it.
  const { Counter, Gauge, Histogram } = createRequire(import.meta.url)('prom-client') as typeof Prometheus;
  const registers = [registry];
  const labelOf = boundedLabels(options.labelOf ?? templateOf);
  /** Several clients of one process share their metrics. */
  const once = <M>(name: string, make: () => M): M => (registry.getSingleMetric(name) as M | undefined) ?? make();
  const histogram = (name: string, help: string) =>
    once(name, () => new Histogram({ name, help, registers, labelNames: about, buckets: seconds }));

  const wait = histogram('firstcome_lock_wait_seconds', 'From the call to its grant or refusal.');
  const hold = histogram('firstcome_lock_hold_seconds', 'From the grant to the release.');
  const handoff = histogram('firstcome_lock_handoff_seconds', 'From the news of a release to the next grant.');
  const total = once(
    'firstcome_lock_total',
    () => new Counter({ name: 'firstcome_lock_total', help: 'Acquisitions by outcome.', registers, labelNames: about }),
  );
  const waiters = once(
    'firstcome_lock_waiters',
    () =>
      new Gauge({
        name: 'firstcome_lock_waiters',
        help: 'Waiting in this process.',
        registers,
        labelNames: ['lock', 'strategy'],
      }),
  );
  const renewals = once(
    'firstcome_lock_renewals_total',
    () =>
      new Counter({
        name: 'firstcome_lock_renewals_total',
        help: 'Leases renewed by the watchdog.',
        registers,
        labelNames: ['result'],
      }),
  );
  const batches = once(
    'firstcome_batch_size',
    () =>
      new Histogram({
        name: 'firstcome_batch_size',
        help: 'Items worked on per hold.',
        registers,
        labelNames: ['lock'],
        buckets: sizes,
      }),
  );

  return (event: LockEvent) => {
    if (event.type === 'renewed') return renewals.inc({ result: event.result }, event.count);
    const lock = labelOf(event.key);
    if (event.type === 'batch') return batches.observe({ lock }, event.size);
    const { strategy } = event;
    switch (event.type) {
      case 'acquired': {
        total.inc({ lock, strategy, outcome: 'acquired' });
        wait.observe({ lock, strategy, outcome: 'acquired' }, event.waitedMs / 1000);
        const outcome = event.handedOver ? 'local' : 'remote';
        if (event.handoffMs !== undefined) handoff.observe({ lock, strategy, outcome }, event.handoffMs / 1000);
        return;
      }
      case 'refused': {
        // A line that is full is busy to whoever looks at outcomes.
        const outcome = event.outcome === 'queue_full' ? 'busy' : event.outcome;
        total.inc({ lock, strategy, outcome });
        return wait.observe({ lock, strategy, outcome }, event.waitedMs / 1000);
      }
      case 'released':
        return hold.observe({ lock, strategy, outcome: event.outcome }, event.heldMs / 1000);
      case 'lost':
        return total.inc({ lock, strategy, outcome: 'lost' });
      case 'waiting':
        return waiters.inc({ lock, strategy }, event.change);
      case 'long_hold':
        return undefined;
    }
  };
}
