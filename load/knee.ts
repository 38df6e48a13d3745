// Where a strategy gives way: the largest offered load at which everybody is still served in time. Pure.
import type { PhaseFigures } from './figures.js';

export interface Knee {
  /** Arrivals per second that were still served. */
  rate: number;
  /** The first load that was not, and what gave way there. */
  gaveWayAt?: number;
  why: string;
  /** Not even the first load was served: the rate is an estimate from what was. */
  belowFirst?: true;
}

/** In time: 99 of 100 within this. */
export const limitMs = 250;
const served = 0.99;

/** Why this load is too much; undefined where it is not. */
function tooMuch(phase: PhaseFigures, seconds: number): string | undefined {
  const offered = phase.rate * seconds;
  // k6 starts the last iteration of a phase or not, as its clock happens to say.
  if (phase.requests < offered * served - 1) return `${Math.round(offered - phase.requests)} arrivals were dropped`;
  if (phase.acknowledged < phase.requests * served)
    return `${phase.requests - phase.acknowledged} of ${phase.requests} were not served`;
  if (phase.p99 === undefined) return 'nobody was served';
  return phase.p99 > limitMs ? `p99 ${Math.round(phase.p99)} ms` : undefined;
}

export function kneeOf(phases: readonly PhaseFigures[], seconds: number): Knee {
  let good = 0;
  for (const rate of ratesOf(phases)) {
    const tries = phases.filter((phase) => phase.rate === rate);
    const whys = tries.map((phase) => tooMuch(phase, seconds));
    // One bad second of the machine is not the strategy's: a load is too much when it was so each time.
    const why = whys.every((one) => one !== undefined) ? whys.at(-1)! : undefined;
    if (why && good === 0) {
      const goodput = Math.max(...tries.map((phase) => phase.goodput));
      return {
        rate: Math.max(1, Math.min(Math.floor(goodput), rate - 1)),
        gaveWayAt: rate,
        why: `${why} at the first step`,
        belowFirst: true,
      };
    }
    if (why) return { rate: good, gaveWayAt: rate, why };
    good = rate;
  }
  return { rate: good, why: 'did not give way' };
}

const ratesOf = (phases: readonly PhaseFigures[]) =>
  [...new Set(phases.map(({ rate }) => rate))].toSorted((a, b) => a - b);

interface Range {
  from: number;
  upTo: number;
}

/** Doubling, two steps at a time: an overloaded step leaves a queue behind that the next one would inherit. */
export const firstRates = ({ from, upTo }: Range): number[] => [from, from * 2].filter((rate) => rate <= upTo);

const between = [1.25, 1.5, 1.75];

/** The loads to try next; none when the knee is known. */
export function nextRates({ upTo }: Range, phases: readonly PhaseFigures[], seconds: number): number[] {
  const { rate, gaveWayAt, belowFirst } = kneeOf(phases, seconds);
  const tried = phases.map((phase) => phase.rate);
  const largest = Math.max(...tried);
  if (gaveWayAt === undefined) return [largest * 2, largest * 4].filter((next) => next <= upTo);
  const triedOnce = tried.filter((one) => one === gaveWayAt).length < 2;
  if (belowFirst) return triedOnce ? [gaveWayAt] : [];
  if (gaveWayAt !== rate * 2) return [];
  if (triedOnce) return [gaveWayAt];
  return between.map((factor) => Math.round(rate * factor)).filter((next) => !tried.includes(next));
}

/** The search looks at loads a quarter apart: knees closer than that are not told apart. */
export const notToldApart = (lower: { mid: number }, higher: { mid: number }): boolean =>
  lower.mid * 1.25 >= higher.mid;
