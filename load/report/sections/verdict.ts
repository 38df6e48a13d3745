// Was it right: every strategy's verdict, beside what it took.
import { isRed } from '../../verdict.js';
import { flashOf } from '../digest.js';
import type { Digest, StrategyDigest } from '../digest.js';
import { figure, intervalCell } from '../format.js';
import { chip, escape, name, section, table } from '../html.js';
import { differenceText } from '../wording.js';

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
