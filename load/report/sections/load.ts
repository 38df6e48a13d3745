// Latency against offered load: up to each strategy's knee, then all of them at the same loads.
import { limitMs } from '../../knee.js';
import type { Interval } from '../../statistics.js';
import { latencyLabel, latencyTicks, legend, logScale, panels, rateTicks } from '../charts.js';
import type { Line } from '../charts.js';
import type { CapacityDigest, Digest } from '../digest.js';
import { figure, intervalCell, ms, percent } from '../format.js';
import { figureBox, name, section, table } from '../html.js';

const point = (rate: number, value: Interval, served: number) => ({
  x: rate,
  y: value.mid,
  low: value.low,
  high: value.high,
  hollow: served < 0.99,
});

function loadLine({ climb }: CapacityDigest, which: 'p50' | 'p99', look: Line['look']): Line {
  return { look, points: climb.flatMap((one) => (one[which] ? [point(one.rate, one[which], one.served)] : [])) };
}

export function loadSection({ capacity }: Digest): string {
  const measured = capacity.filter(({ climb }) => climb.length > 0);
  if (measured.length === 0) return '';
  const rates = measured.flatMap(({ climb }) => climb.map(({ rate }) => rate));
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  const chart = panels(
    measured.map((one) => ({
      title: one.strategy,
      strategy: one.strategy,
      summary: `${one.strategy}: ${one.climb.map(({ rate, p99 }) => `${rate}/s p99 ${p99 ? ms(p99) : 'none served'}`).join(', ')}`,
      x: logScale(low, high, rateTicks(low, high), (value) => `${value}`),
      y: logScale(1, 20_000, latencyTicks, latencyLabel),
      xTitle: 'offered per second',
      limit: { y: limitMs, label: `${limitMs} ms` },
      ...(one.knee && { mark: { x: one.knee.mid, label: `${figure(one.knee.mid)}/s` } }),
      lines: [
        ...measured.filter((other) => other !== one).map((other) => loadLine(other, 'p99', 'context')),
        loadLine(one, 'p50', 'second'),
        loadLine(one, 'p99', 'main'),
      ],
    })),
  );
  const keys = legend([
    { look: 'main', label: 'p99 of the served (hollow: some were not served)' },
    { look: 'second', label: 'p50' },
    { look: 'context', label: 'p99 of the other strategies' },
  ]);
  const climbTable = table<{
    strategy: string;
    rate: number;
    p50?: Interval;
    p99?: Interval;
    served: number;
    rounds: number;
  }>(
    'Milliseconds of the served on the way up, per offered load',
    [
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      { head: 'offered/s', number: true, cell: ({ rate }) => figure(rate) },
      { head: 'p50 ms', number: true, cell: ({ p50 }) => intervalCell(p50) },
      { head: 'p99 ms', number: true, cell: ({ p99 }) => intervalCell(p99) },
      { head: 'served', number: true, cell: ({ served }) => percent(served) },
      { head: 'rounds', number: true, cell: ({ rounds }) => String(rounds) },
    ],
    measured.flatMap(({ strategy, climb }) => climb.map((one) => ({ strategy, ...one }))),
  );
  return section(
    'load',
    'Latency against offered load',
    `One hot coupon that does not run out. Users come at a fixed rate whether or not the ones before were served; the upright line is the knee, the last load at which 99 of 100 were served within ${limitMs} ms.`,
    figureBox('Up to the knee', keys + chart, 'Both axes are logarithmic.', climbTable) + sameLoads(capacity),
  );
}

/** All strategies at the same loads: parts of the slowest one's knee. */
function sameLoads(capacity: readonly CapacityDigest[]): string {
  const measured = capacity.filter(({ curve }) => curve.length > 0);
  if (measured.length === 0) return '';
  const rates = measured[0]!.curve.map(({ rate }) => rate);
  const rows = table<CapacityDigest>(
    'p99 of the served in milliseconds at the same offered loads: 25, 50, 75, 90 and 120 % of the slowest knee',
    [
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      ...rates.map((rate) => ({
        head: `${figure(rate)}/s`,
        number: true,
        cell: ({ curve }: CapacityDigest) => {
          const at = curve.find((one) => one.rate === rate);
          return at
            ? `${intervalCell(at.p99)}${at.served < 0.99 ? `<small>${percent(at.served)} served</small>` : ''}`
            : '';
        },
      })),
    ],
    measured,
  );
  return `<figure><figcaption><h3>The same loads for all</h3></figcaption>${rows}</figure>`;
}
