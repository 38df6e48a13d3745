// Runs blocks one after another into a folder, says how far it is and how long it will take, and goes on where it stopped.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from './api.js';
import { runBlock } from './block.js';
import type { Bench, BlockResult } from './block.js';
import { kindOf } from './plan.js';
import type { BlockPlan, ProfileName, ScenarioName } from './plan.js';
import { duration, say } from './progress.js';
import type { System } from './system.js';
import { isRed } from './verdict.js';
import type { Judgement, Verdict } from './verdict.js';

export interface Blocks {
  results: BlockResult[];
  /** Blocks for which no time was left. */
  left: BlockPlan[];
}

/** What the folder knows of a block. */
function kept(folder: string, { id }: BlockPlan): BlockResult | undefined {
  const file = join(folder, `${id}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as BlockResult) : undefined;
}

const showedNothing = ({ verdict }: Judgement) => verdict === 'refused' || verdict === 'blind';

/** A block that was finished in this folder before. Those that showed nothing are measured again. */
function finished(folder: string, plan: BlockPlan): BlockResult | undefined {
  const result = kept(folder, plan);
  return result && showedNothing(result) ? undefined : result;
}

/** Of these blocks, what was finished before; nothing is measured. */
export function finishedOf(folder: string, plans: readonly BlockPlan[]): Blocks {
  return {
    results: plans.flatMap((plan) => finished(folder, plan) ?? []),
    left: plans.filter((plan) => !finished(folder, plan)),
  };
}

/** What became of the tries of a block before this one, in this sitting or another. */
const triesOf = ({ verdict, reasons, earlier = [] }: BlockResult): Judgement[] => [...earlier, { verdict, reasons }];

/**
 * The next try of a block that showed nothing. In a smoke run, which compares nothing, it is given less to carry, or more
 * where it was too little to make `none` oversell; everywhere else the strategies are compared at one load.
 */
const attempts: Record<ProfileName, number> = { smoke: 4, standard: 3, full: 3 };

function nextEase(profile: ProfileName, ease: number, verdict: Verdict): number {
  if (profile !== 'smoke') return ease;
  return verdict === 'blind' ? ease * 2 : ease / 2;
}

export async function runBlocks(
  bench: Bench,
  plans: readonly BlockPlan[],
  deadline = Number.POSITIVE_INFINITY,
): Promise<Blocks> {
  const results: BlockResult[] = [];
  const took = new Durations();
  for (const [place, plan] of plans.entries()) {
    const before = finished(bench.folder, plan);
    if (before) {
      results.push(before);
      continue;
    }
    const left = plans.slice(place);
    if (performance.now() + took.of(plan) > deadline) {
      say(`Time is up: ${left.length} of ${plans.length} blocks are left out`);
      return { results, left };
    }
    const result = await tryBlock(bench, plan);
    took.add(plan, result.tookMs);
    results.push(result);
    const still = Math.min(
      left.slice(1).reduce((sum, next) => sum + took.of(next), 0),
      deadline - performance.now(),
    );
    say(`  ${place + 1}/${plans.length}  ${progressLine(result)}  ${still > 0 ? `about ${duration(still)} left` : ''}`);
  }
  return { results, left: [] };
}

/** Once more where nothing was shown: a machine that was busy elsewhere is no finding. */
export async function tryBlock(bench: Bench, plan: BlockPlan, firstEase = 1): Promise<BlockResult> {
  const before = kept(bench.folder, plan);
  let earlier = before && showedNothing(before) ? triesOf(before) : [];
  for (let attempt = 1, ease = firstEase; ; attempt += 1) {
    const result = await runBlock(bench, plan, ease, attempt, earlier);
    const { verdict, reasons } = result;
    if (!showedNothing(result) || attempt === attempts[bench.profile]) return result;
    earlier = triesOf(result);
    ease = nextEase(bench.profile, ease, verdict);
    say(`  ${plan.id}: ${verdict} (${reasons.join('; ')}): once more${ease === 1 ? '' : `, at ${ease} x the load`}`);
  }
}

function progressLine({ id, verdict, reasons, tookMs }: BlockResult): string {
  const word = isRed(verdict) ? `${verdict.toUpperCase()} (${reasons.join('; ')})` : verdict;
  return `${id}  ${word}  ${(tookMs / 1000).toFixed(1)} s`;
}

/** What a block of this kind and strategy took before; of this kind; at all; or a guess. */
class Durations {
  private readonly seen: { kind: string; strategy: string; ms: number }[] = [];

  add(plan: BlockPlan, ms: number): void {
    this.seen.push({ kind: kind(plan), strategy: plan.strategy, ms });
  }

  of(plan: BlockPlan): number {
    const same = this.seen.filter((one) => one.kind === kind(plan));
    const own = same.filter(({ strategy }) => strategy === plan.strategy);
    const known = [own, same, this.seen].find((some) => some.length > 0);
    return known ? known.reduce((sum, { ms }) => sum + ms, 0) / known.length : 8000;
  }
}

const kind = ({ scenario, mode }: BlockPlan) => `${scenario} ${mode ?? ''}`;

/** Which of these strategies the system knows: asked by its own lab header, of things that do not exist. */
export async function offered(
  system: System,
  scenario: ScenarioName,
  strategies: readonly string[],
): Promise<string[]> {
  const kindOfStrategy = kindOf(scenario);
  if (kindOfStrategy === 'configured') return [...strategies];
  const [url, name, body] =
    kindOfStrategy === 'issue'
      ? [`${system.coupon[0]}/v1/coupons/${Number.MAX_SAFE_INTEGER}/issues`, 'x-issue-strategy', {}]
      : [
          `${system.order[0]}/v1/orders`,
          'x-stock-strategy',
          { items: [{ optionId: Number.MAX_SAFE_INTEGER, quantity: 1 }] },
        ];
  const known: string[] = [];
  for (const strategy of strategies) {
    const token = system.tokenFor('load-probe');
    const { json } = await ask('POST', url, {
      token,
      body,
      key: `probe-${Date.now()}-${strategy}`,
      headers: { [name]: strategy },
    });
    if (json['code'] !== 'STRATEGY_UNKNOWN') known.push(strategy);
  }
  return known;
}
