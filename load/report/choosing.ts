// docs/choosing.md: situation -> strategy -> why. The questions are written here, the answers are drawn from a run: the
// winner of the figure that decides the situation, with that figure beside it; of those that cannot be told apart, the
// simplest. What was not measured is not recommended.
import { notToldApart } from '../knee.js';
import type { Interval } from '../statistics.js';
import { digest as digestOf, flashOf } from './digest.js';
import type { Digest, StrategyDigest } from './digest.js';
import { figure, ms, percent, perSecond } from './format.js';
import type { Results } from './results.js';

interface Advice {
  situation: string;
  take: string;
  because: string;
  /** Blocks that show it. */
  blocks: string[];
}

const inDatabase = ['atomic', 'optimistic', 'pessimistic', 'advisory'];
/** There to show what goes wrong: one option alone makes no deadlock, and is no reason to take it. */
const labOnly = ['none', 'unsorted'];
/** From what needs least to what needs most: one statement, row locks, a lock in one Redis, more than that. */
const simplestFirst = [
  'atomic', 'sorted', 'pessimistic', 'advisory', 'optimistic', 'pubsub', 'adaptive', 'spin', 'batched', 'queue', 'redlock',
]; // prettier-ignore
const oneByOne = ['pessimistic', 'advisory', 'spin', 'adaptive', 'pubsub', 'queue', 'redlock'];

export function choosingTable(results: Results, folder: string): string {
  const advice = adviceOf(digestOf(results.blocks));
  const raw = (blocks: string[]) => blocks.slice(0, 3).map((id, at) => `[${at + 1}](${folder}/raw/${id}.json)`).join(' '); // prettier-ignore
  const rows = advice.map(
    ({ situation, take, because, blocks }) => `| ${situation} | ${take} | ${because} | ${raw(blocks)} |`,
  );
  return ['| situation | take | because, in this run | raw |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

export function adviceOf(digest: Digest): Advice[] {
  const flash = flashOf(digest).filter(({ verdict }) => verdict === 'exact');
  const exact = new Set(flash.map(({ strategy }) => strategy));
  const knees = digest.capacity
    .filter(
      (one): one is typeof one & { knee: Interval } =>
        one.knee !== undefined && exact.has(one.strategy) && one.verdict === 'exact',
    )
    .toSorted((a, b) => b.knee.mid - a.knee.mid);
  const highest = (among?: readonly string[]) => knees.filter(({ strategy }) => !among || among.includes(strategy));
  return [
    ...byKnee('A limited coupon and a rush: as many issues per second as can be had', highest()),
    ...byKnee('The same, and no Redis', highest(inDatabase)),
    ...byKnee('Work that is more than one statement and must be done one at a time', highest(oneByOne)),
    ...fairest(flash, knees),
    ...cheapest(flash),
    ...quietest(digest.scenarios.bleed ?? []),
    ...independent(knees),
    ...orders('Baskets of several options that many want', digest.scenarios['order-multi-item'] ?? []),
    ...orders('One option that everybody wants, with points and coupon', digest.scenarios['order-hot-option'] ?? []),
    // Four of five requests are reads: of the few orders the p99 would be the longest one.
    ...orders('Hardly any contention', digest.scenarios['order-mixed'] ?? [], 'p50'),
    ...never(digest),
  ];
}

/** Of the best and those that the run cannot tell from it, the one that needs least: nobody should run more for nothing. */
function simplestOf<T extends { strategy: string }>(best: T, alike: readonly T[]): { chosen: T; besides: T[] } {
  const place = ({ strategy }: T) => simplestFirst.indexOf(strategy);
  const [chosen, ...besides] = [best, ...alike].toSorted((a, b) => place(a) - place(b));
  return { chosen: chosen!, besides };
}

const notApart = (names: readonly string[]): string =>
  names.length > 0 ? `; not told apart from it: ${names.join(', ')}` : '';

type Measured = Digest['capacity'][number] & { knee: Interval };

function byKnee(situation: string, [best, ...others]: Measured[]): Advice[] {
  if (!best) return [];
  const alike = others.filter(({ knee }) => notToldApart(knee, best.knee));
  const { chosen, besides } = simplestOf(best, alike);
  const next = others.find((one) => !alike.includes(one));
  const named = besides.map(({ strategy, knee }) => `${strategy} (${perSecond(knee)})`);
  return [
    {
      situation,
      take: `\`${chosen.strategy}\``,
      because: `99 of 100 within 250 ms up to ${perSecond(chosen.knee)}${notApart(named)}${next ? `; next ${next.strategy}, ${perSecond(next.knee)}` : ''}`,
      blocks: chosen.blocks,
    },
  ];
}

function fairest(flash: readonly StrategyDigest[], knees: readonly Measured[]): Advice[] {
  const measured = flash.filter(({ inversions }) => inversions);
  const least = Math.min(...measured.map(({ inversions }) => inversions!.mid));
  // Half a percent of the pairs is the network's and the event loop's.
  const fair = measured.filter(({ inversions }) => inversions!.mid <= least + 0.005);
  const kneeOf = ({ strategy }: StrategyDigest) => knees.find((one) => one.strategy === strategy)?.knee.mid ?? 0;
  const [best] = fair.toSorted((a, b) => kneeOf(b) - kneeOf(a));
  if (!best) return [];
  const others = fair.filter((one) => one !== best).map(({ strategy }) => strategy);
  const alike = others.length > 0 ? `; as fair, within half a percent: ${others.join(', ')}` : '';
  return [
    {
      situation: 'Whoever came first must be served first',
      take: `\`${best.strategy}\``,
      because: `${percent(best.inversions!.mid)} of the pairs of winners were inverted over two instances${alike}`,
      blocks: best.blocks,
    },
  ];
}

function cheapest(flash: readonly StrategyDigest[]): Advice[] {
  const cpu = ({ perThousand }: StrategyDigest) =>
    (perThousand?.appCpu?.mid ?? 0) + (perThousand?.postgresCpu?.mid ?? 0) + (perThousand?.redisCpu?.mid ?? 0);
  const measured = flash.filter(({ perThousand: per }) => per?.appCpu && per.postgresCpu && per.redisCpu);
  const [best, ...others] = measured.toSorted((a, b) => cpu(a) - cpu(b));
  const dearest = others.at(-1);
  if (!best || !dearest) return [];
  const alike = others.filter((one) => cpu(one) < cpu(best) * 1.05);
  const { chosen, besides } = simplestOf(best, alike);
  const names = besides.map(({ strategy }) => strategy).join(', ');
  return [
    {
      situation: 'The machine is small',
      take: `\`${chosen.strategy}\``,
      because: `${figure(cpu(chosen))} s of CPU for 1000 coupons, the refused included${names ? `; within 5 %: ${names}` : ''}; the dearest, ${dearest.strategy}, ${figure(cpu(dearest))} s`,
      blocks: chosen.blocks,
    },
  ];
}

function quietest(probed: readonly StrategyDigest[]): Advice[] {
  const sorted = probed.filter(({ probe, verdict }) => probe?.during && verdict === 'exact').toSorted((a, b) => a.probe!.during!.mid - b.probe!.during!.mid); // prettier-ignore
  const [best, ...others] = sorted;
  const worst = others.at(-1);
  if (!best || !worst) return [];
  const alike = others.filter(({ probe }) => probe!.during!.low <= best.probe!.during!.high);
  // Where none can be told from the best, whichever is taken is no advice.
  if (alike.length === others.length) return [];
  const { chosen, besides } = simplestOf(best, alike);
  return [
    {
      situation: 'The rest of the service must not suffer',
      take: `\`${chosen.strategy}\``,
      because: `an unrelated read had a p99 of ${ms(chosen.probe!.during!)} beside it${notApart(besides.map(({ strategy }) => strategy))}; beside ${worst.strategy} of ${ms(worst.probe!.during!)}`,
      blocks: chosen.blocks,
    },
  ];
}

function independent(knees: readonly Measured[]): Advice[] {
  const redlock = knees.find(({ strategy }) => strategy === 'redlock');
  const pubsub = knees.find(({ strategy }) => strategy === 'pubsub');
  if (!redlock || !pubsub) return [];
  const alike = notToldApart(redlock.knee, pubsub.knee) && notToldApart(pubsub.knee, redlock.knee);
  const dearer = !alike && redlock.knee.mid < pubsub.knee.mid;
  const [its, ones] = [perSecond(redlock.knee), `one Redis (pubsub) does ${perSecond(pubsub.knee)}`];
  return [
    {
      situation: 'No single Redis may be able to stop the sale',
      take: '`redlock`, and the fence stays on',
      because: dearer ? `its price: ${its} where ${ones}` : `no price was measured here: ${its} where ${ones}`,
      blocks: redlock.blocks,
    },
  ];
}

function orders(situation: string, rows: readonly StrategyDigest[], by: 'p50' | 'p99' = 'p99'): Advice[] {
  const waited = ({ servedP50, servedP99 }: StrategyDigest) => (by === 'p50' ? servedP50 : servedP99);
  const right = rows.filter(
    (one) => !labOnly.includes(one.strategy) && one.verdict === 'exact' && waited(one) && one.deadlocks === 0,
  );
  const [best, ...others] = right.toSorted((a, b) => waited(a)!.mid - waited(b)!.mid);
  if (!best) return [];
  const alike = others.filter((one) => waited(one)!.low <= waited(best)!.high);
  const { chosen, besides } = simplestOf(best, alike);
  return [
    {
      situation,
      take: `\`${chosen.strategy}\``,
      because: `${by} ${ms(waited(chosen)!)}, no deadlock${notApart(besides.map(({ strategy }) => strategy))}`,
      blocks: chosen.blocks,
    },
  ];
}

function never({ scenarios }: Digest): Advice[] {
  const none = scenarios['coupon-flash']?.find(({ strategy }) => strategy === 'none');
  const unsorted = scenarios['order-multi-item']?.find(({ strategy }) => strategy === 'unsorted');
  return [
    ...(none?.verdict === 'oversold'
      ? [{ situation: 'Never', take: 'reading, deciding and writing without a guard (`none`)', because: `${none.sold} coupons given out of ${none.supply}`, blocks: none.blocks }]
      : []),
    ...(unsorted && unsorted.deadlocks > 0
      ? [{ situation: 'Never', take: 'row locks in the order of the request (`unsorted`)', because: `${unsorted.deadlocks} deadlocks in ${unsorted.rounds} rounds`, blocks: unsorted.blocks }]
      : []),
  ]; // prettier-ignore
}
