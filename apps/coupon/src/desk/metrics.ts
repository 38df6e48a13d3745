import { metricsRegistry } from '@firstcome/http';
import { Gauge } from 'prom-client';

const NAME = 'firstcome_desk_sessions';

/** Tests start several apps in one process: the second finds what the first has made. */
export const deskSessions =
  (metricsRegistry.getSingleMetric(NAME) as Gauge<'role'> | undefined) ??
  new Gauge({
    name: NAME,
    help: 'Sessions at the desks of this process that have their seat.',
    labelNames: ['role'],
    registers: [metricsRegistry],
  });
