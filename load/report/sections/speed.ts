// Time to sell out, and winners per second.
import type { Interval } from '../../statistics.js';
import { bars } from '../charts.js';
import { flashOf } from '../digest.js';
import type { Digest, StrategyDigest } from '../digest.js';
import { figure, intervalCell, seconds } from '../format.js';
import { figureBox, name, section, table } from '../html.js';
import { rawLinks } from '../wording.js';

function crowdText(flash: readonly StrategyDigest[]): string {
  const crowd = flash.find(({ crowdMs }) => crowdMs)?.crowdMs;
  return crowd
    ? ` Until as many had come as there were coupons, ${seconds(crowd)} went by: who sold out soon after was as fast as this load can tell.`
    : '';
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
    `From the opening of the doors to the answer of the last winner, and how many winners per second that makes. The thin line is the 95 % interval over the rounds.${crowdText(flash)}`,
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
