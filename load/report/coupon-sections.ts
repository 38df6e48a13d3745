// The parts of the page about coupons: verdict, load, answers, speed, time, order, cost, collateral damage.
import type { Interval } from '../statistics.js';
import type { Distribution } from '../statistics.js';
import { limitMs } from '../knee.js';
import { isRed } from '../verdict.js';
import {
  bars,
  dumbbells,
  latencyLabel,
  latencyTicks,
  legend,
  linearScale,
  logScale,
  panels,
  rateTicks,
  stacks,
} from './charts.js';
import type { Line } from './charts.js';
import type { CapacityDigest, Digest, StrategyDigest } from './digest.js';
import { figure, ms, percent, intervalCell } from './format.js';
import { escape, figureBox, name, table } from './html.js';
import { differenceText, rawLinks } from './wording.js';

export const chip = ({ verdict }: { verdict: StrategyDigest['verdict'] }): string =>
  `<span class="chip ${isRed(verdict) ? 'red' : verdict}">${isRed(verdict) || verdict === 'oversold' ? verdict.toUpperCase() : 'exact'}</span>`;

const section = (id: string, title: string, lead: string, content: string): string =>
  `<section id="${id}"><h2>${escape(title)}</h2><p>${escape(lead)}</p>${content}</section>`;

const flashOf = ({ scenarios }: Digest) => scenarios['coupon-flash'] ?? [];

export function verdictSection(digest: Digest): string {
  const flash = flashOf(digest);
  if (flash.length === 0) return '';
  const knees = new Map(digest.capacity.map((one) => [one.strategy, one.knee]));
  const rows = table<StrategyDigest>(
    `coupon-flash: ${flash[0]!.supply ?? '?'} coupons, far more users; median of the rounds, 95 % interval below`,
    [
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      { head: 'verdict', cell: chip },
      { head: 'given', number: true, cell: ({ sold, supply }) => (supply === undefined ? '' : `${sold} of ${supply}`) },
      { head: 'sold out in, s', number: true, cell: ({ soldOutMs }) => intervalCell(soldOutMs, 1000) },
      { head: 'against atomic', cell: ({ strategy }) => escape(differenceText(strategy, digest.againstAtomic)) },
      { head: 'winners wait, p99 ms', number: true, cell: ({ servedP99 }) => intervalCell(servedP99) },
      { head: '“sold out” takes, p99 ms', number: true, cell: ({ refusedP99 }) => intervalCell(refusedP99) },
      { head: 'knee, issues/s', number: true, cell: ({ strategy }) => intervalCell(knees.get(strategy)) },
      { head: 'safety-net trips', number: true, cell: ({ trips }) => figure(trips) },
      { head: 'rounds', number: true, cell: ({ rounds }) => String(rounds) },
    ],
    flash,
  );
  const red = Object.values(digest.scenarios).flat().filter(({ verdict }) => isRed(verdict)); // prettier-ignore
  const why = red.map(
    ({ scenario, strategy, reasons }) =>
      `<li><strong>${escape(`${strategy} in ${scenario}`)}</strong>: ${escape(reasons.join('; '))}</li>`,
  );
  return section(
    'verdict',
    'Was it right?',
    'Exact: everything sold, nothing sold twice, and every single client was told what the rows say. none has no guard and must be seen to oversell, or this check would be blind.',
    `${why.length > 0 ? `<ul class="rules">${why.join('')}</ul>` : ''}<figure>${rows}</figure>`,
  );
}

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

export function speedSection(digest: Digest): string {
  const flash = flashOf(digest);
  if (flash.length === 0) return '';
  const bar = (pick: (one: StrategyDigest) => Interval | undefined, scale: number, unit: string, absent: string) =>
    bars(
      flash.map((one) => {
        const value = pick(one);
        return value
          ? {
              strategy: one.strategy,
              value: value.mid,
              low: value.low,
              high: value.high,
              label: `${figure(value.mid / scale)} ${unit}`,
            }
          : { strategy: one.strategy, label: absent };
      }),
    );
  const behind = table<StrategyDigest>(
    'Median over the rounds, 95 % interval below',
    [
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      { head: 'sold out in, ms', number: true, cell: ({ soldOutMs }) => intervalCell(soldOutMs) },
      { head: 'issued per second', number: true, cell: ({ goodput }) => intervalCell(goodput) },
      { head: 'told to come back', number: true, cell: ({ contended }) => intervalCell(contended) },
      { head: 'raw', cell: (one) => rawLinks(one.blocks) },
    ],
    flash,
  );
  return section(
    'speed',
    'Time to sell out',
    'From the opening of the doors to the answer of the last winner, and how many winners per second that makes. The thin line is the 95 % interval over the rounds.',
    `<div class="pair">${figureBox(
      'Sold out in',
      bar(({ soldOutMs }) => soldOutMs, 1000, 's', 'not sold out'),
      'Shorter is better.',
      behind,
    )}${figureBox(
      'Issued per second',
      bar(({ goodput }) => goodput, 1, '/s', 'nothing issued'),
      'Longer is better.',
      behind,
    )}</div>`,
  );
}

export function timeSection(digest: Digest): string {
  const timed = flashOf(digest).filter(({ parts }) => parts);
  if (timed.length === 0) return '';
  const split = ({ parts }: StrategyDigest) => {
    const { lock, hold, db, total } = parts!;
    // A lock is held around its transaction: what is not the database there is the lock's own round trips and the queue for a connection.
    const holding = Math.max(0, hold - db);
    return { lock, db, holding, rest: Math.max(0, total - lock - db - holding), total };
  };
  const rows = timed.map((one) => {
    const { lock, db, holding, rest, total } = split(one);
    return {
      strategy: one.strategy,
      parts: [
        { look: 'part-lock', value: lock },
        { look: 'part-db', value: db },
        { look: 'part-hold', value: holding },
        { look: 'part-rest', value: rest },
      ],
      label: ms(total),
    };
  });
  const keys = [
    { look: 'part-lock', label: 'waiting for the lock' },
    { look: 'part-db', label: 'in the database' },
    { look: 'part-hold', label: 'holding the lock, not in the database' },
    { look: 'part-rest', label: 'everything else' },
  ];
  const behind = table<StrategyDigest>(
    'Mean milliseconds of an issued request, from Server-Timing',
    [
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      { head: 'lock', number: true, cell: ({ parts }) => figure(parts!.lock) },
      { head: 'hold', number: true, cell: ({ parts }) => figure(parts!.hold) },
      { head: 'db', number: true, cell: ({ parts }) => figure(parts!.db) },
      { head: 'whole request', number: true, cell: ({ parts }) => figure(parts!.total) },
    ],
    timed,
  );
  return section(
    'time',
    'Where a winner’s time goes',
    'Each row is one mean issued request, cut into what it spent its time on. Strategies that take turns in the database wait for the row there, so their waiting counts as database time.',
    figureBox('Shares of a request', stacks(rows, keys), 'The figure at the end is the whole request.', behind),
  );
}

export function fairnessSection(digest: Digest): string {
  const served = flashOf(digest).filter(({ fairness, strategy }) => fairness.length > 0 && strategy !== 'none');
  if (served.length === 0) return '';
  const chart = panels(
    served.map((one) => {
      const most = Math.max(...one.fairness.flatMap(({ arrived, serial }) => [arrived, serial]));
      const inverted = one.inversions ? percent(one.inversions.mid) : 'not measured';
      return {
        title: `${one.strategy}: ${inverted} inverted`,
        strategy: one.strategy,
        summary: `${one.strategy}: ${inverted} of the pairs were served in the other order`,
        x: linearScale(1, most, [1, most], String),
        y: linearScale(1, most, [1, most], String),
        xTitle: 'place of arrival',
        diagonal: true,
        dots: one.fairness.map(({ arrived, serial }) => ({ x: arrived, y: serial })),
      };
    }),
  );
  const behind = table<StrategyDigest>(
    'Share of pairs of winners that were served the other way round than they arrived',
    [
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      { head: 'over both instances, %', number: true, cell: ({ inversions }) => intervalCell(inversions, 0.01) },
      {
        head: 'within an instance, %',
        number: true,
        cell: ({ inversionsWithinInstance }) => intervalCell(inversionsWithinInstance, 0.01),
      },
    ],
    served,
  );
  return section(
    'fairness',
    'First come, first served?',
    'Each dot is a winner: across, when they asked; up, the serial they got. On the line nobody was overtaken. Arrival is the moment the client sent the request, so a few places are the network’s and the event loop’s.',
    figureBox('Arrival and serial', chart, 'First round of coupon-flash, the winners only.', behind),
  );
}

export function costSection(digest: Digest): string {
  const flash = flashOf(digest).filter(({ perThousand, strategy }) => perThousand && strategy !== 'none');
  if (flash.length === 0) return '';
  const cpu = ({ perThousand }: StrategyDigest) => ({
    app: perThousand?.appCpu?.mid ?? 0,
    postgres: perThousand?.postgresCpu?.mid ?? 0,
    redis: perThousand?.redisCpu?.mid ?? 0,
  });
  const bar = (pick: (one: StrategyDigest) => Interval | undefined) =>
    bars(
      flash.map((one) => {
        const value = pick(one);
        return value
          ? { strategy: one.strategy, value: value.mid, low: value.low, high: value.high, label: figure(value.mid) }
          : { strategy: one.strategy, label: 'not measured' };
      }),
    );
  const total = (one: StrategyDigest) => cpu(one).app + cpu(one).postgres + cpu(one).redis;
  const behind = table<StrategyDigest>(
    'Per 1000 coupons issued, with everything that the refused cost beside them',
    [
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      { head: 'Redis commands', number: true, cell: ({ perThousand }) => intervalCell(perThousand?.redisCommands) },
      { head: 'transactions', number: true, cell: ({ perThousand }) => intervalCell(perThousand?.transactions) },
      { head: 'CPU s, apps', number: true, cell: ({ perThousand }) => intervalCell(perThousand?.appCpu) },
      { head: 'CPU s, PostgreSQL', number: true, cell: ({ perThousand }) => intervalCell(perThousand?.postgresCpu) },
      { head: 'CPU s, Redis', number: true, cell: ({ perThousand }) => intervalCell(perThousand?.redisCpu) },
      {
        head: 'connections, PostgreSQL / Redis',
        number: true,
        cell: ({ connections }) => (connections ? `${connections.postgres} / ${connections.redis}` : ''),
      },
      {
        head: 'users per batch',
        number: true,
        cell: ({ meanBatch }) => (meanBatch === undefined ? '' : figure(meanBatch)),
      },
      {
        head: 'optimistic retries',
        number: true,
        cell: ({ retries }) => (retries === undefined ? '' : figure(retries)),
      },
    ],
    flash,
  );
  const cpuBars = bars(
    flash.map((one) => ({ strategy: one.strategy, value: total(one), label: `${figure(total(one))} s` })),
  );
  return section(
    'cost',
    'What 1000 coupons cost',
    'Counted in PostgreSQL, in Redis and by the processes themselves, over the whole sale: the refused are part of the price. Commands inside Redis scripts are counted too.',
    `<div class="pair">${figureBox(
      'Redis commands',
      bar(({ perThousand }) => perThousand?.redisCommands),
      'Shorter is cheaper.',
      behind,
    )}${figureBox(
      'Transactions',
      bar(({ perThousand }) => perThousand?.transactions),
      'Shorter is cheaper.',
      behind,
    )}${figureBox('CPU seconds: apps, PostgreSQL and Redis', cpuBars, 'Shorter is cheaper.', behind)}</div>`,
  );
}

export function bleedSection({ scenarios }: Digest): string {
  const probed = (scenarios.bleed ?? []).filter(({ probe }) => probe);
  if (probed.length === 0) return '';
  const values = probed.flatMap(({ probe }) => [probe!.before?.mid ?? 1, probe!.during?.mid ?? 1]);
  const rows = probed.map(({ strategy, probe }) => ({
    strategy,
    ...(probe!.before && { from: probe!.before.mid }),
    ...(probe!.during && { to: probe!.during.mid }),
    label: `${probe!.before ? ms(probe!.before) : '?'} → ${probe!.during ? ms(probe!.during) : '?'}`,
  }));
  const behind = table<StrategyDigest>(
    'p99 of 20 reads a second of another coupon, milliseconds',
    [
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      { head: 'before the sale', number: true, cell: ({ probe }) => intervalCell(probe!.before) },
      { head: 'during the sale', number: true, cell: ({ probe }) => intervalCell(probe!.during) },
      { head: 'errors', number: true, cell: ({ probe }) => String(probe!.errors) },
      { head: 'verdict', cell: chip },
    ],
    probed,
  );
  return section(
    'bleed',
    'Who else suffers',
    'While the sale runs, somebody reads another coupon twenty times a second. They have nothing to do with it; how much longer do they wait?',
    figureBox(
      'p99 of an unrelated read, before and during',
      dumbbells(rows, Math.max(0.5, Math.min(...values) * 0.7), Math.max(...values) * 1.2),
      'From the grey mark (before) to the coloured one (during), logarithmic.',
      behind,
    ),
  );
}
