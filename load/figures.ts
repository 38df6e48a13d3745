// What one block measured, from its client log. Latency stands under the name of the answer, never mixed: a fast "sold out"
// must not average down a slow "issued". Pure.
import type { Phase } from './lib/arrivals.js';
import type { ClientRecord } from './lib/client-log.js';
import { outcomeName, outcomes } from './lib/outcome.js';
import type { Outcome } from './lib/outcome.js';
import { distribution, inversionRate, percentile, sampled } from './statistics.js';
import type { Distribution } from './statistics.js';

export interface PhaseFigures {
  name: string;
  /** Arrivals per second that were offered. */
  rate: number;
  requests: number;
  acknowledged: number;
  contended: number;
  /** Of the acknowledged, milliseconds. */
  p50?: number;
  p99?: number;
  /** Acknowledged per second, until the last of them was answered. */
  goodput: number;
}

export interface Fairness {
  /** Share of pairs served the other way round than they arrived, over all instances. */
  inversions: number;
  /** The same among those who asked one instance. */
  inversionsWithinInstance?: number;
  /** Place of arrival and serial of some of them, for the picture. */
  sample: { arrived: number; serial: number }[];
}

export interface Figures {
  requests: number;
  outcomes: Record<Outcome, number>;
  answers: Record<string, number>;
  latency: Record<string, Distribution>;
  phases: PhaseFigures[];
  /** From the opening of the doors to the answer that gave the last one there was: what was oversold after it is no sale. */
  soldOutMs?: number;
  /** Acknowledged per second from the opening of the doors to the last acknowledgement. */
  goodput?: number;
  serverTiming?: { lock: Distribution; hold: Distribution; db: Distribution };
  fairness?: Fairness;
}

const isAcknowledged = ({ outcome }: ClientRecord) => outcome === 'acknowledged';
const isProbe = ({ request }: ClientRecord) => request === 'probe';
const isMutation = ({ request }: ClientRecord) => request !== 'probe' && request !== 'read';

/** `supply` is how many there were to be had, where everything can be sold. */
export function figuresOf(records: readonly ClientRecord[], phases: readonly Phase[], supply?: number): Figures {
  const mutations = records.filter(isMutation);
  const winners = mutations.filter((record) => isAcknowledged(record) && !record.replayed);
  const doorsOpen = mutations.filter(({ phase }) => phase === 'burst').map(({ at }) => at);
  return {
    requests: records.length,
    outcomes: countOutcomes(records),
    answers: countBy(records, nameOf),
    latency: latencyByAnswer(records),
    phases: phases.map((phase) =>
      phaseFigures(
        phase,
        records.filter((record) => record.phase === phase.name),
      ),
    ),
    ...sale(winners, doorsOpen, supply),
    ...timingOf(winners),
    ...fairnessOf(winners),
  };
}

/** `issue: acknowledged`, `issue: COUPON_SOLD_OUT`, `probe: acknowledged`. */
function nameOf({ request, outcome, code, status, replayed }: ClientRecord): string {
  return `${request}: ${replayed ? 'replayed ' : ''}${outcomeName(outcome, code, status)}`;
}

function countOutcomes(records: readonly ClientRecord[]): Record<Outcome, number> {
  const counted = countBy(records, ({ outcome }) => outcome);
  return Object.fromEntries(outcomes.map((outcome) => [outcome, counted[outcome] ?? 0])) as Record<Outcome, number>;
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
}

function latencyByAnswer(records: readonly ClientRecord[]): Record<string, Distribution> {
  const byName: Record<string, number[]> = {};
  for (const record of records) (byName[nameOf(record)] ??= []).push(record.ms);
  return Object.fromEntries(Object.entries(byName).map(([name, values]) => [name, distribution(values)!]));
}

function phaseFigures({ name, rate }: Phase, records: readonly ClientRecord[]): PhaseFigures {
  const acknowledged = records.filter(isAcknowledged);
  const latencies = acknowledged.map(({ ms }) => ms);
  const began = Math.min(...records.map(({ at }) => at));
  const ended = Math.max(...acknowledged.map(({ at, ms }) => at + ms));
  return {
    name,
    rate,
    requests: records.length,
    acknowledged: acknowledged.length,
    contended: records.filter(({ outcome }) => outcome === 'contended').length,
    ...(latencies.length > 0 && { p50: percentile(latencies, 50)!, p99: percentile(latencies, 99)! }),
    goodput: acknowledged.length === 0 ? 0 : perSecond(acknowledged.length, ended - began),
  };
}

const perSecond = (count: number, ms: number) => Math.round((count / Math.max(ms, 1)) * 1_000_000) / 1000;

function sale(winners: readonly ClientRecord[], doorsOpen: readonly number[], supply?: number): Partial<Figures> {
  if (doorsOpen.length === 0) return {};
  const opened = Math.min(...doorsOpen);
  const inBurst = winners.filter(({ at }) => at >= opened);
  if (inBurst.length === 0) return {};
  const lastAnswered = Math.max(...inBurst.map(({ at, ms }) => at + ms));
  const soldOut = supply === undefined ? undefined : answersInTime(winners)[supply - 1];
  return {
    goodput: perSecond(inBurst.length, lastAnswered - opened),
    ...(soldOut !== undefined && { soldOutMs: Math.max(0, Math.round(soldOut - opened)) }),
  };
}

const answersInTime = (winners: readonly ClientRecord[]) =>
  winners.map(({ at, ms }) => at + ms).toSorted((a, b) => a - b);

function timingOf(winners: readonly ClientRecord[]): Pick<Figures, 'serverTiming'> {
  const timed = winners.filter((record) => record.lock !== undefined);
  const [lock, hold, db] = [timed.map((r) => r.lock!), timed.map((r) => r.hold!), timed.map((r) => r.db!)].map(
    distribution,
  );
  return lock && hold && db ? { serverTiming: { lock, hold, db } } : {};
}

const shownPoints = 250;

function fairnessOf(winners: readonly ClientRecord[]): Pick<Figures, 'fairness'> {
  const served = winners.flatMap(({ at, serial, instance }) =>
    serial === undefined ? [] : [{ at, serial, instance }],
  );
  const inversions = inversionRate(served);
  if (inversions === undefined) return {};
  const within = [...new Set(served.map(({ instance }) => instance))]
    .map((instance) => inversionRate(served.filter((one) => one.instance === instance)))
    .filter((rate) => rate !== undefined);
  const arrived = served
    .toSorted((a, b) => a.at - b.at || a.serial - b.serial)
    .map(({ serial }, place) => ({ arrived: place + 1, serial }));
  return {
    fairness: {
      inversions,
      ...(within.length > 0 && { inversionsWithinInstance: Math.max(...within) }),
      sample: sampled(arrived, shownPoints).toSorted((a, b) => a.arrived - b.arrived),
    },
  };
}

/** What the probe of `bleed` saw. */
export const probesOf = (records: readonly ClientRecord[]): ClientRecord[] => records.filter(isProbe);
