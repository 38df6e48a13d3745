// Sentences and links that several parts of the page share.
import type { Comparison } from '../statistics.js';
import type { Against } from './digest.js';
import { escape } from './html.js';
import { figure } from './format.js';

/** `2.4× slower (2.1 to 2.8)`, `no measurable difference (0.9 to 1.2)`: as parts of the other's time. */
export function comparisonText({ effect, measurable, why }: Comparison): string {
  if (why === 'too few repeats') return 'too few rounds';
  if (!measurable) return `no measurable difference (${figure(1 + effect.low)} to ${figure(1 + effect.high)})`;
  const ratio = (value: number) => (effect.mid > 0 ? 1 + value : 1 / (1 + value));
  const ends = [ratio(effect.low), ratio(effect.high)].toSorted((a, b) => a - b);
  return `${figure(ratio(effect.mid))}× ${effect.mid > 0 ? 'slower' : 'faster'} (${figure(ends[0]!)} to ${figure(ends[1]!)})`;
}

export function differenceText(strategy: string, against: readonly Against[]): string {
  const found = against.find((one) => one.strategy === strategy);
  if (!found) return strategy === 'none' ? 'not comparable' : 'the measure';
  return found.comparison ? comparisonText(found.comparison) : (found.why ?? 'not sold out');
}

/** The raw files of these blocks, beside the page. */
export const rawLinks = (blocks: readonly string[]): string =>
  blocks.map((id) => `<a href="${encodeURI(`raw/${id}.json`)}">${escape(id.split('.').at(-1)!)}</a>`).join(' ');
