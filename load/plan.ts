// Which blocks a run has, how large they are, and in which order. Pure: the same seed makes the same plan.
import { flashSale, inSequence, steps } from './lib/arrivals.js';
import type { Phase } from './lib/arrivals.js';
import { seeded, shuffled } from './lib/random.js';

export const issueStrategies = [
  'none', 'atomic', 'optimistic', 'pessimistic', 'advisory', 'spin', 'adaptive', 'pubsub', 'queue', 'redlock', 'batched',
] as const; // prettier-ignore
export const stockStrategies = ['none', 'unsorted', 'sorted', 'optimistic', 'atomic', 'spin', 'pubsub'] as const;

export const scenarioNames = [
  'coupon-flash', 'coupon-duplicate', 'order-hot-option', 'order-multi-item', 'order-mixed', 'pay-expire-race', 'bleed', 'capacity',
] as const; // prettier-ignore
export type ScenarioName = (typeof scenarioNames)[number];

/** Which strategies a scenario compares; the others of its kind cannot show anything there. */
const compared: Record<ScenarioName, { kind: 'issue' | 'stock' | 'configured'; without: readonly string[] }> = {
  'coupon-flash': { kind: 'issue', without: [] },
  // Without the guarded tables there is no limit per user to keep, and no answer to replay.
  'coupon-duplicate': { kind: 'issue', without: ['none'] },
  'order-hot-option': { kind: 'stock', without: [] },
  'order-multi-item': { kind: 'stock', without: ['none'] },
  'order-mixed': { kind: 'stock', without: ['none'] },
  'pay-expire-race': { kind: 'configured', without: [] },
  bleed: { kind: 'issue', without: ['none'] },
  capacity: { kind: 'issue', without: ['none'] },
};

export const kindOf = (scenario: ScenarioName) => compared[scenario].kind;

export function strategiesOf(scenario: ScenarioName): string[] {
  const { kind, without } = compared[scenario];
  if (kind === 'configured') return ['configured'];
  return (kind === 'issue' ? issueStrategies : stockStrategies).filter((name) => !without.includes(name));
}

export const profileNames = ['smoke', 'standard', 'full'] as const;
export type ProfileName = (typeof profileNames)[number];

export interface Size {
  phases: Phase[];
  /** Of what is sold; where a scenario sells something out, far less than comes. */
  supply?: number;
  warmUp: { rate: number; seconds: number };
}

interface Profile {
  rounds: number;
  warmUp: { rate: number; seconds: number };
  flash: { steadyRate: number; steadySeconds: number; rate: number; seconds: number; supply: number };
  /** Orders, duplicates: arrivals per second and seconds. */
  orders: { rate: number; seconds: number };
  duplicates: { rate: number; seconds: number };
  race: { rate: number; seconds: number };
  step: { seconds: number; pauseSeconds: number };
  knee: { from: number; upTo: number; seconds: number };
  sweep: { keys: number; hold: number };
}

export const profiles: Record<ProfileName, Profile> = {
  smoke: {
    rounds: 1,
    warmUp: { rate: 40, seconds: 1 },
    flash: { steadyRate: 20, steadySeconds: 1, rate: 250, seconds: 1, supply: 50 },
    orders: { rate: 60, seconds: 1.5 },
    duplicates: { rate: 30, seconds: 1.5 },
    race: { rate: 20, seconds: 3 },
    step: { seconds: 1, pauseSeconds: 0.3 },
    knee: { from: 50, upTo: 400, seconds: 1 },
    sweep: { keys: 60, hold: 20 },
  },
  standard: {
    rounds: 5,
    warmUp: { rate: 100, seconds: 1 },
    flash: { steadyRate: 50, steadySeconds: 1, rate: 600, seconds: 2.5, supply: 300 },
    orders: { rate: 200, seconds: 3 },
    duplicates: { rate: 60, seconds: 2 },
    race: { rate: 40, seconds: 5 },
    step: { seconds: 2, pauseSeconds: 0.5 },
    knee: { from: 50, upTo: 3200, seconds: 1.5 },
    sweep: { keys: 150, hold: 30 },
  },
  full: {
    rounds: 10,
    warmUp: { rate: 150, seconds: 2 },
    flash: { steadyRate: 100, steadySeconds: 2, rate: 1000, seconds: 4, supply: 1000 },
    orders: { rate: 300, seconds: 6 },
    duplicates: { rate: 100, seconds: 4 },
    race: { rate: 60, seconds: 10 },
    step: { seconds: 4, pauseSeconds: 1 },
    knee: { from: 50, upTo: 6400, seconds: 3 },
    sweep: { keys: 150, hold: 20 },
  },
};

/** The offered loads of the curve, as parts of the slowest strategy's knee; the last one is more than that one can take. */
export const curveParts = [0.25, 0.5, 0.75, 0.9, 1.2];

export function curveRates(knees: readonly number[]): number[] {
  const slowest = Math.min(...knees);
  if (!Number.isFinite(slowest)) return [];
  return [...new Set(curveParts.map((part) => Math.max(1, Math.round(slowest * part))))];
}

/** What this machine was seen to carry: the loads of the comparison are parts of it, so that they mean the same on any machine. */
export interface Loads {
  /** Knees of the issue strategies, per second. */
  slowestKnee: number;
  medianKnee: number;
  /** Baskets under `sorted`, per second. */
  orderKnee?: number;
}

export function loadsOf(knees: readonly number[], orderKnee?: number): Loads | undefined {
  const sorted = knees.toSorted((a, b) => a - b);
  const [slowestKnee, medianKnee] = [sorted[0], sorted[Math.floor(sorted.length / 2)]];
  if (slowestKnee === undefined || medianKnee === undefined) return undefined;
  return { slowestKnee, medianKnee, ...(orderKnee !== undefined && { orderKnee }) };
}

type Sized = Pick<Profile, 'flash' | 'orders' | 'duplicates' | 'race'> & { hotOrders: Profile['orders'] };

/**
 * The sale asks twice of what the median strategy can carry (at most the profile's rate, which k6 must be able to make), and has no more than the slowest can sell while its clients
 * wait. Baskets stay below what `sorted` carries, because there a deadlock is looked for and not an overload; but the one
 * option that all want is asked for twice as often as that, or `none` would have no two customers at once to fail.
 */
function sizedBy(profile: Profile, loads: Loads | undefined): Sized {
  const { flash, orders, duplicates, race } = profile;
  if (!loads) return { ...profile, hotOrders: orders };
  const rate = atLeast(50, Math.min(flash.rate, loads.medianKnee * 2));
  const supply = Math.min((rate * flash.seconds) / 4, loads.slowestKnee * 4, flash.supply);
  const ofKnee = (part: number) =>
    loads.orderKnee === undefined ? orders.rate : atLeast(5, Math.min(orders.rate, loads.orderKnee * part));
  const orderRate = ofKnee(0.8);
  return {
    flash: { ...flash, rate, steadyRate: atLeast(5, rate / 12), supply: atLeast(10, supply) },
    orders: { ...orders, rate: orderRate },
    hotOrders: { ...orders, rate: ofKnee(2) },
    duplicates: { ...duplicates, rate: atLeast(5, Math.min(duplicates.rate, loads.slowestKnee / 4)) },
    race: { ...race, rate: atLeast(5, Math.min(race.rate, orderRate / 4)) },
  };
}

const atLeast = (least: number, value: number) => Math.max(least, Math.round(value));

export function sizeOf(
  scenario: ScenarioName,
  profile: ProfileName,
  rates: readonly number[] = [],
  loads?: Loads,
): Size {
  const { step, warmUp } = profiles[profile];
  const { flash, orders, hotOrders, duplicates, race } = sizedBy(profiles[profile], loads);
  const steady = (name: string, { rate, seconds }: { rate: number; seconds: number }) =>
    inSequence([{ name, rate, seconds }]);
  switch (scenario) {
    case 'coupon-flash':
      return { phases: flashSale(flash), supply: flash.supply, warmUp };
    case 'bleed':
      return { phases: withProbe(flashSale(flash)), supply: flash.supply, warmUp };
    case 'coupon-duplicate':
      return { phases: steady('hammer', duplicates), warmUp };
    case 'order-hot-option':
      return {
        phases: steady('burst', hotOrders),
        supply: Math.floor((hotOrders.rate * hotOrders.seconds) / 5),
        warmUp,
      };
    case 'order-multi-item':
    case 'order-mixed':
      return { phases: steady('burst', orders), warmUp };
    case 'pay-expire-race':
      return { phases: steady('race', race), warmUp };
    case 'capacity':
      break;
  }
  return { phases: steps(rates, step.seconds, step.pauseSeconds), warmUp };
}

export const probeRate = 20;

/** 20 reads a second of something else: a second before the sale, as the measure, and all through it. */
function withProbe(sale: Phase[]): Phase[] {
  const quietSeconds = 1;
  const moved = sale.map((phase) => ({ ...phase, startSeconds: phase.startSeconds + quietSeconds }));
  const saleSeconds = sale.reduce((sum, { seconds }) => sum + seconds, 0);
  const [before, during] = inSequence([
    { name: 'probe-before', rate: probeRate, seconds: quietSeconds },
    { name: 'probe-during', rate: probeRate, seconds: saleSeconds },
  ]);
  return [...moved, before!, during!];
}

/** How many coupons share the load, how long each turn lasts beyond what it needs, and how patient those are who poll. */
export interface Sweep {
  keys: number;
  holdMs: number;
  /** So many times the usual pauses between looks and retries. */
  backoff?: number;
}

export interface BlockPlan {
  /** Names the block's raw files. */
  id: string;
  scenario: ScenarioName;
  /** Looking for the knee, or (of `capacity`) measuring at given rates, or with other parameters. */
  mode?: 'knee' | 'curve' | 'sweep';
  /** The loads of the curve. */
  rates?: number[];
  /** What the machine was seen to carry, where the size of the block comes from it. */
  loads?: Loads;
  sweep?: Sweep;
  strategy: string;
  round: number;
  seed: number;
}

/** One round of a scenario: every strategy once, in an order drawn from the seed. */
export function roundOf(
  scenario: ScenarioName,
  strategies: readonly string[],
  round: number,
  seed: number,
  mode?: BlockPlan['mode'],
  rates?: number[],
  loads?: Loads,
): BlockPlan[] {
  const random = seeded(seed + round * 1009 + scenarioNames.indexOf(scenario) * 9176 + (mode === 'curve' ? 77 : 0));
  return shuffled(strategies, random).map((strategy) => {
    const name = mode ? `${scenario}-${mode}` : scenario;
    return {
      id: `${name}.${strategy}.${String(round).padStart(2, '0')}`,
      scenario,
      ...(mode && { mode }),
      ...(rates && { rates }),
      ...(loads && !mode && { loads }),
      strategy,
      round,
      seed: Math.floor(random() * 2 ** 31),
    };
  });
}
