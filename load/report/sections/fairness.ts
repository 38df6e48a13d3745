// First come, first served? The order of arrival against the serials.
import { linearScale, panels } from '../charts.js';
import { flashOf } from '../digest.js';
import type { Digest, StrategyDigest } from '../digest.js';
import { intervalCell, percent } from '../format.js';
import { figureBox, name, section, table } from '../html.js';

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
