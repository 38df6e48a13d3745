// How long each answer takes: one curve for each, never mixed.
import type { Distribution } from '../../statistics.js';
import { latencyLabel, latencyTicks, legend, linearScale, logScale, panels } from '../charts.js';
import type { Line } from '../charts.js';
import { flashOf } from '../digest.js';
import type { Digest, StrategyDigest } from '../digest.js';
import { figure } from '../format.js';
import { escape, figureBox, name, section, table } from '../html.js';

const percents = Array.from({ length: 51 }, (_, step) => step * 2);

function cumulative(distribution: Distribution | undefined, look: Line['look']): Line {
  return { look, points: (distribution?.curve ?? []).map((value, place) => ({ x: value, y: percents[place]! })) };
}

export function answersSection(digest: Digest): string {
  const flash = flashOf(digest).filter(({ curves }) => curves.length > 0);
  if (flash.length === 0) return '';
  const of = ({ curves }: StrategyDigest, answer: string) =>
    curves.find((one) => one.answer === `issue: ${answer}`)?.distribution;
  const retry = ({ curves }: StrategyDigest) =>
    curves.filter(({ answer }) => /LOCK_TIMEOUT|CONCURRENT_UPDATE|LOCK_QUEUE_FULL/.test(answer)).toSorted((a, b) => b.distribution.count - a.distribution.count)[0]?.distribution; // prettier-ignore
  const chart = panels(
    flash.map((one) => ({
      title: one.strategy,
      strategy: one.strategy,
      summary: `${one.strategy}: issued p50 ${of(one, 'acknowledged')?.p50 ?? 'none'} ms, sold out p50 ${of(one, 'COUPON_SOLD_OUT')?.p50 ?? 'none'} ms`,
      x: logScale(1, 20_000, latencyTicks, latencyLabel),
      y: linearScale(0, 100, [0, 50, 100], (value) => `${value} %`),
      xTitle: 'answered within',
      lines: [
        cumulative(of(one, 'acknowledged'), 'main'),
        cumulative(of(one, 'COUPON_SOLD_OUT'), 'second'),
        cumulative(retry(one), 'third'),
      ],
    })),
  );
  const keys = legend([
    { look: 'main', label: 'issued' },
    { look: 'second', label: 'sold out' },
    { look: 'third', label: 'come back later (lock timeout, conflict)' },
  ]);
  const behind = table<{ strategy: string; answer: string; distribution: Distribution }>(
    'Milliseconds per answer, first round',
    [
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      { head: 'answer', cell: ({ answer }) => escape(answer) },
      { head: 'requests', number: true, cell: ({ distribution }) => figure(distribution.count) },
      ...(['p50', 'p90', 'p99', 'max'] as const).map((p) => ({
        head: p,
        number: true,
        cell: ({ distribution }: { distribution: Distribution }) => figure(distribution[p]),
      })),
    ],
    flash.flatMap(({ strategy, curves }) => curves.map((curve) => ({ strategy, ...curve }))),
  );
  return section(
    'answers',
    'How long each answer takes',
    'Most who come to a flash sale leave with nothing, so “sold out” has its own curve: a fast refusal must not average down a slow issue.',
    figureBox(
      'Share of answers within a time',
      keys + chart,
      'First round of coupon-flash. The time axis is logarithmic.',
      behind,
    ),
  );
}
