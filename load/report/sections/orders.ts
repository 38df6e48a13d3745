// The parts of the page about orders, and about what must be right whatever the strategy: copies and races.
import type { Interval } from '../../statistics.js';
import { marks } from '../charts.js';
import type { Digest, StrategyDigest } from '../digest.js';
import { figure, intervalCell } from '../format.js';
import { chip, escape, figureBox, name, section, table } from '../html.js';
import type { Column } from '../html.js';
import { differenceText, rawLinks } from '../wording.js';

const served: Column<StrategyDigest>[] = [
  { head: 'strategy', cell: ({ strategy }) => name(strategy) },
  { head: 'verdict', cell: chip },
  {
    head: 'given',
    number: true,
    cell: ({ sold, supply }) => (supply === undefined || sold === undefined ? '' : `${sold} of ${supply}`),
  },
  { head: 'orders/s', number: true, cell: ({ goodput }) => intervalCell(goodput) },
  { head: 'p50 ms', number: true, cell: ({ servedP50 }) => intervalCell(servedP50) },
  { head: 'p99 ms', number: true, cell: ({ servedP99 }) => intervalCell(servedP99) },
  { head: '“out of stock”, p99 ms', number: true, cell: ({ refusedP99 }) => intervalCell(refusedP99) },
  { head: 'told to come back', number: true, cell: ({ contended }) => intervalCell(contended) },
  { head: 'deadlocks', number: true, cell: ({ deadlocks }) => figure(deadlocks) },
  { head: 'raw', cell: ({ blocks }) => rawLinks(blocks) },
];

const p99Marks = (rows: readonly StrategyDigest[]) =>
  marks(
    rows.map(({ strategy, servedP99 }) =>
      servedP99
        ? {
            strategy,
            value: servedP99.mid,
            low: servedP99.low,
            high: servedP99.high,
            label: `${figure(servedP99.mid)} ms`,
          }
        : { strategy, label: 'nobody served' },
    ),
  );

function comparedOrders(
  id: string,
  title: string,
  lead: string,
  rows: StrategyDigest[] | undefined,
  more: Column<StrategyDigest>[] = [],
): string {
  if (!rows || rows.length === 0) return '';
  const columns = [...served.slice(0, -1), ...more, served.at(-1)!];
  const behind = table(`${rows[0]!.scenario}: median of the rounds, 95 % interval below`, columns, rows);
  return section(
    id,
    title,
    lead,
    `<figure>${behind}</figure>${figureBox('p99 of the orders that went through', p99Marks(rows), 'Further left is better, logarithmic; the thin line is the 95 % interval.', behind)}`,
  );
}

export function orderSections(digest: Digest): string {
  const { scenarios, againstSorted } = digest;
  return [
    comparedOrders(
      'hot-option',
      'One option that everybody wants',
      'Stock, points and a coupon as one unit: paid with points, by half of the crowd with a coupon, while one in ten cannot pay. What is refused must leave no trace of the three.',
      scenarios['order-hot-option'],
    ),
    comparedOrders(
      'baskets',
      'Baskets in every order',
      'Two to five out of ten options, named in random order. unsorted locks them as they come and shows what that costs; the others take them in one order.',
      scenarios['order-multi-item'],
      [
        {
          head: 'p99 against sorted',
          cell: ({ strategy }) =>
            escape(strategy === 'sorted' ? 'the measure' : differenceText(strategy, againstSorted)),
        },
      ],
    ),
    comparedOrders(
      'mixed',
      'An ordinary day',
      'A thousand options, a few of them popular, four reads to one order: hardly any contention, the optimist’s home ground.',
      scenarios['order-mixed'],
    ),
  ].join('\n');
}

/** Right or wrong, not fast or slow. */
export function correctnessSection({ scenarios }: Digest): string {
  const rows = [...(scenarios['coupon-duplicate'] ?? []), ...(scenarios['pay-expire-race'] ?? [])];
  if (rows.length === 0) return '';
  const questions: Record<string, string> = {
    'coupon-duplicate':
      'copies of one request, with the same key, another and none: one coupon per user, equal replays',
    'pay-expire-race':
      'pay, cancel and expiry of one order at the same moment: exactly one wins, the rest is given back',
  };
  const count = (value: Interval | undefined) => (value ? figure(value.mid) : '0');
  const content = table<StrategyDigest>(
    'Every block checked against the rows',
    [
      { head: 'scenario', cell: ({ scenario }) => escape(scenario) },
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      { head: 'verdict', cell: chip },
      { head: 'question', cell: ({ scenario }) => escape(questions[scenario] ?? '') },
      { head: 'told to come back', number: true, cell: ({ contended }) => count(contended) },
      { head: 'rounds', number: true, cell: ({ rounds }) => String(rounds) },
      { head: 'raw', cell: ({ blocks }) => rawLinks(blocks) },
    ],
    rows,
  );
  return section('copies', 'Copies and races', 'Not a matter of speed: these must simply be right, under every strategy.', `<figure>${content}</figure>`); // prettier-ignore
}
