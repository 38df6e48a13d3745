// What the report says first. Every sentence is a figure of the run; where a plain statement beats the locks it comes first.
import type { Interval } from '../statistics.js';
import { flashOf } from './digest.js';
import type { Digest, StrategyDigest } from './digest.js';
import { notToldApart } from '../knee.js';
import { fewestPairs } from '../statistics.js';
import { ms, percent, perSecond, seconds } from './format.js';

export interface Sentence {
  tone: 'good' | 'bad' | 'plain';
  text: string;
}

/** Everything of the contract that takes a turn by a lock or by retrying; `atomic` is the plain statement. */
export const turnTakers = [
  'optimistic',
  'pessimistic',
  'advisory',
  'spin',
  'adaptive',
  'pubsub',
  'queue',
  'redlock',
  'batched',
];

export function headline(digest: Digest): Sentence[] {
  return [
    ...correctness(digest),
    ...plainStatement(digest),
    ...capacity(digest),
    ...fastest(digest),
    ...negativeControl(digest),
    ...bleed(digest),
  ];
}

const everything = (digest: Digest): StrategyDigest[] => Object.values(digest.scenarios).flat();

function correctness(digest: Digest): Sentence[] {
  const broken = [...everything(digest), ...digest.capacity].filter(
    ({ verdict }) => verdict === 'breach' || verdict === 'blind',
  );
  if (broken.length === 0) return [];
  const names = [...new Set(broken.map(({ strategy }) => strategy))].join(', ');
  return [{ tone: 'bad', text: `Not everything was right: ${names}. The verdicts below say what broke.` }];
}

function plainStatement({ scenarios, againstAtomic }: Digest): Sentence[] {
  const atomic = scenarios['coupon-flash']?.find(({ strategy }) => strategy === 'atomic');
  const locks = againstAtomic.filter(({ strategy }) => turnTakers.includes(strategy));
  if (!atomic?.soldOutMs || locks.length === 0) return [];
  const slower = locks.filter(({ comparison }) => comparison?.measurable && comparison.effect.mid > 0);
  const faster = locks.filter(({ comparison }) => comparison?.measurable && comparison.effect.mid < 0);
  const tooFew = locks.filter(({ comparison }) => comparison?.why === 'too few repeats');
  const alike = locks.filter((one) => one.comparison && !one.comparison.measurable && !tooFew.includes(one));
  const unsold = locks.filter(({ why }) => why === 'not sold out');
  const names = (some: typeof locks) => some.map(({ strategy }) => strategy).join(', ');
  const parts = [
    slower.length > 0 && `it beat ${slower.length} of ${locks.length} ways of taking turns (${names(slower)})`,
    alike.length > 0 && `showed no measurable difference to ${names(alike)}`,
    faster.length > 0 && `was beaten by ${names(faster)}`,
    tooFew.length > 0 && `too few rounds to compare it with ${names(tooFew)}`,
    unsold.length > 0 && `${names(unsold)} did not sell out in time`,
  ].filter((part) => part !== false);
  return [
    {
      tone: 'plain',
      text: `One plain conditional statement (atomic) sold out in ${seconds(atomic.soldOutMs)}${crowd(atomic)}: ${parts.join('; ')}.`,
    },
  ];
}

/** Who is near it was as fast as anybody can be: the rest of the time was the crowd's own. */
const crowd = ({ crowdMs }: StrategyDigest): string =>
  crowdMs ? `, of which the crowd itself took ${seconds(crowdMs)} to come` : '';

function fastest(digest: Digest): Sentence[] {
  const sold = flashOf(digest).filter(({ strategy, soldOutMs }) => strategy !== 'none' && soldOutMs);
  // Who is first of one round is an accident.
  if (sold.length < 2 || sold.some(({ rounds }) => rounds < fewestPairs) || !digest.againstFirst) return [];
  const { first, others } = digest.againstFirst;
  const best = sold.find(({ strategy }) => strategy === first)!;
  const worst = sold.toSorted((a, b) => b.soldOutMs!.mid - a.soldOutMs!.mid)[0]!;
  const close = others.filter(({ comparison }) => comparison && !comparison.measurable);
  const alike = close.length > 0 ? ` (no measurable difference to ${close.map(({ strategy }) => strategy).join(', ')})` : ''; // prettier-ignore
  return [
    {
      tone: 'good',
      text: `Sold out first: ${first}, in ${seconds(best.soldOutMs!)}${alike}; last: ${worst.strategy}, in ${seconds(worst.soldOutMs!)}.`,
    },
  ];
}

function capacity({ capacity: all }: Digest): Sentence[] {
  const known = all.filter((one): one is typeof one & { knee: Interval } => one.knee !== undefined);
  if (known.length < 2) return [];
  const [best, ...others] = known.toSorted((a, b) => b.knee.mid - a.knee.mid);
  const alike = others.filter((one) => notToldApart(one.knee, best!.knee));
  const next = others.find((one) => !alike.includes(one));
  const named = (one: (typeof known)[number]) => `${one.strategy} ${perSecond(one.knee)}`;
  const worst = known.toSorted((a, b) => a.knee.mid - b.knee.mid)[0]!;
  return [
    {
      tone: 'plain',
      text: `Most issues per second with 99 of 100 served within 250 ms: ${named(best!)}${alike.length > 0 ? `, and not told apart from it ${alike.map(named).join(', ')}` : ''}${next ? `; then ${named(next)}; fewest: ${named(worst)}` : ''}.`,
    },
  ];
}

function negativeControl({ scenarios }: Digest): Sentence[] {
  const none = scenarios['coupon-flash']?.find(({ strategy }) => strategy === 'none');
  if (none?.verdict !== 'oversold' || none.sold === undefined || !none.supply) return [];
  return [
    {
      tone: 'plain',
      text: `Without any guard (none) ${none.sold} of ${none.supply} coupons were given out, ${percent(none.sold / none.supply - 1)} too many: the check sees overselling where there is some.`,
    },
  ];
}

function bleed({ scenarios }: Digest): Sentence[] {
  const probed = (scenarios.bleed ?? []).filter(({ probe }) => probe?.during);
  if (probed.length < 2) return [];
  const sorted = probed.toSorted((a, b) => a.probe!.during!.mid - b.probe!.during!.mid);
  const [least, most] = [sorted[0]!, sorted.at(-1)!];
  return [
    {
      tone: 'plain',
      text: `A read that has nothing to do with the sale had a p99 of ${ms(least.probe!.during!)} beside ${least.strategy}, and of ${ms(most.probe!.during!)} beside ${most.strategy}.`,
    },
  ];
}
