// Who else suffers: an unrelated read before and during the sale.
import { dumbbells } from '../charts.js';
import type { Digest, StrategyDigest } from '../digest.js';
import { intervalCell, ms } from '../format.js';
import { chip, figureBox, name, section, table } from '../html.js';

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
    'p99 of 20 reads a second of another coupon, milliseconds; so few are read before the sale that it is the longest of them',
    [
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      { head: 'before the sale', number: true, cell: ({ probe }) => intervalCell(probe!.before) },
      { head: 'during the sale', number: true, cell: ({ probe }) => intervalCell(probe!.during) },
      { head: 'reads a round', number: true, cell: ({ probe }) => `${probe!.reads.before} / ${probe!.reads.during}` },
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
