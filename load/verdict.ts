// Was the block right, and may it be counted? Pure: every way to be red is planted in the spec.
import type { Figures } from './figures.js';
import { thresholdCrossed } from './k6.js';
import type { ClientRecord } from './lib/client-log.js';
import type { Finding } from './reconcile.js';

/**
 * - `exact`: every gate held;
 * - `oversold`: `none` did what it must, or the check would be blind;
 * - `blind`: `none` did not oversell: the load is too small to prove anything about the others;
 * - `breach`: a promise was broken;
 * - `refused`: the measurement itself is no good (dropped arrivals, a log that lost something, more than this machine can
 *   carry): it is not counted.
 */
export type Verdict = 'exact' | 'oversold' | 'blind' | 'breach' | 'refused';

export const isRed = (verdict: Verdict): boolean => verdict !== 'exact' && verdict !== 'oversold';

export interface Evidence {
  scenario: string;
  strategy: string;
  k6: { exitCode: number; arrived?: number; planned: number };
  /** How many requests one arrival sends. */
  requestsPerArrival: number;
  dropsAllowed: boolean;
  figures: Figures;
  /** What the whole log holds, warm-up and probes included. */
  findings: Finding[];
  /** How many there were, and how many the rows say were given: where a scenario sells something out. */
  supply?: number;
  sold?: number;
  /** From pg_stat_database, of the databases of the run. */
  deadlocks?: number;
  /** 5xx, those apart which the system answers when it has more to do than it can. */
  serverErrors: number;
  overloadErrors: number;
}

/** Of a whole run: one red block is a red run, and so is a run of nothing. */
export const exitCodeOf = (blocks: readonly { verdict: Verdict }[]): 0 | 1 =>
  blocks.length === 0 || blocks.some(({ verdict }) => isRed(verdict)) ? 1 : 0;

export interface Judgement {
  verdict: Verdict;
  reasons: string[];
}

export function judge(evidence: Evidence): Judgement {
  const unusable = whyUnusable(evidence);
  const tooMuch = whyTooMuch(evidence);
  // What was seen to be broken is broken, however bad the measurement was: a block that is tried again would forget it.
  const seen = whyBroken(evidence);
  // What only was not seen to be right says something only where the measurement is good.
  const broken = unusable.length > 0 ? seen : [...seen, ...whyNotRight(evidence, seen.length > 0, tooMuch.length > 0)];
  const unguarded = evidence.strategy === 'none' && evidence.supply !== undefined;
  const breaches = unguarded ? broken.filter((reason) => !reason.startsWith('OVERSOLD')) : broken;
  if (breaches.length > 0) return { verdict: 'breach', reasons: [...breaches, ...unusable] };
  if (unusable.length > 0) return { verdict: 'refused', reasons: unusable };
  if (unguarded) return judgeUnguarded(evidence, tooMuch);
  return tooMuch.length > 0 ? { verdict: 'refused', reasons: tooMuch } : { verdict: 'exact', reasons: [] };
}

/** The client log says of every request that k6 sent how it ended. */
function hasWholeLog({ k6, figures, requestsPerArrival }: Evidence): boolean {
  return k6.arrived !== undefined && figures.requests === k6.arrived * requestsPerArrival;
}

/** k6 was too busy to send these: no answer of the system's. */
const isUnsent = (name: string) => name.endsWith(': REQUEST_TIMEOUT');

function whyUnusable(evidence: Evidence): string[] {
  const { k6, dropsAllowed, figures, requestsPerArrival } = evidence;
  const reasons: string[] = [];
  if (k6.exitCode !== 0 && k6.exitCode !== thresholdCrossed) reasons.push(`k6 ended with ${k6.exitCode}`);
  if (k6.arrived === undefined) reasons.push('k6 left no summary');
  else if (k6.arrived === 0 || figures.requests === 0)
    reasons.push('nothing was measured: a run of nothing passes every gate');
  else if (!hasWholeLog(evidence)) {
    reasons.push(`the client log holds ${figures.requests} answers of ${k6.arrived * requestsPerArrival} requests`);
  }
  const unsent = Object.entries(figures.answers).filter(([name]) => isUnsent(name));
  const late = unsent.reduce((sum, [, count]) => sum + count, 0);
  if (!dropsAllowed && late > 0)
    reasons.push(`k6 needed over 10 s to send ${late} requests: offer less, or give it more of the machine`);
  const dropped = k6.planned - (k6.arrived ?? k6.planned);
  if (!dropsAllowed && dropped !== 0)
    reasons.push(`k6 dropped ${dropped} of ${k6.planned} arrivals: offer less, or give it more of the machine`);
  const counted = Object.values(figures.outcomes).reduce((sum, count) => sum + count, 0);
  if (counted !== figures.requests) reasons.push(`${counted} outcomes for ${figures.requests} requests`);
  if (figures.requests > 0 && figures.latency && Object.keys(figures.latency).length === 0)
    reasons.push('no latency was measured');
  return reasons;
}

/** More than this machine can carry: nothing is broken by that, and nothing is shown either. */
function whyTooMuch({ figures, supply, sold, scenario, strategy, overloadErrors, dropsAllowed }: Evidence): string[] {
  const { contended, unknown } = figures.outcomes;
  if (supply !== undefined && sold !== undefined && sold < supply && contended + unknown > 0)
    return [`only ${sold} of ${supply} were sold, and ${contended + unknown} were told to come back: offer less`];
  if (isGatedBaskets(scenario, strategy) && overloadErrors > 0 && !dropsAllowed)
    return [`${overloadErrors} found no connection in time: offer less`];
  return [];
}

const isGatedBaskets = (scenario: string, strategy: string) => scenario === 'order-multi-item' && strategy === 'sorted';

/** Each of these is proof by itself. */
function whyBroken(evidence: Evidence): string[] {
  const { figures, findings, supply, sold, scenario, strategy, deadlocks, serverErrors } = evidence;
  const wholeLog = hasWholeLog(evidence);
  const reasons = findings
    .filter(({ needsWholeLog }) => wholeLog || !needsWholeLog)
    .map(({ law, text, count }) => `${law}: ${text} (${count})`);
  if (figures.outcomes.unexpected > 0) reasons.push(`${figures.outcomes.unexpected} unexpected answers`);
  if (supply !== undefined && sold !== undefined && sold > supply) reasons.push(`OVERSOLD: ${sold} of ${supply}`);
  if (isGatedBaskets(scenario, strategy)) {
    if (deadlocks !== undefined && deadlocks > 0) reasons.push(`${deadlocks} deadlocks with sorted locks`);
    if (serverErrors > 0) reasons.push(`${serverErrors} answers of 5xx with sorted locks`);
  }
  if (scenario === 'bleed' && wholeLog) {
    for (const [name, count] of probesIn(figures))
      if (name !== 'probe: acknowledged' && !isUnsent(name)) reasons.push(`${count} x ${name}`);
  }
  return reasons;
}

/** What had to be seen and was not. */
function whyNotRight(evidence: Evidence, known: boolean, tooMuch: boolean): string[] {
  const { figures, supply, sold, scenario, strategy, deadlocks } = evidence;
  const reasons: string[] = [];
  if (servedOf(figures) === 0) reasons.push('nobody was served');
  if (supply !== undefined && sold !== undefined && sold < supply && !tooMuch)
    reasons.push(`only ${sold} of ${supply} were sold`);
  if (isGatedBaskets(scenario, strategy) && !Number.isFinite(deadlocks)) reasons.push('deadlocks could not be counted');
  if (scenario === 'bleed' && probesIn(figures).length === 0) reasons.push('no probe was sent');
  if (evidence.k6.exitCode === thresholdCrossed && !known && reasons.length === 0 && !tooMuch)
    reasons.push('k6: a threshold was crossed');
  return reasons;
}

const probesIn = ({ answers }: Figures) => Object.entries(answers).filter(([name]) => name.startsWith('probe: '));

/** Those who came for something and got it: whoever only reads is served by a system that serves nobody. */
function servedOf({ answers }: Figures): number {
  return Object.entries(answers)
    .filter(([name]) => /^(?!(?:probe|read): ).*: (?:replayed )?acknowledged$/.test(name))
    .reduce((sum, [, count]) => sum + count, 0);
}

/** `none` is the negative control: it must be seen to oversell, and must leave the guarded tables alone. */
function judgeUnguarded({ supply = 0, sold }: Evidence, tooMuch: string[]): Judgement {
  if (sold !== undefined && sold > supply) return { verdict: 'oversold', reasons: [`${sold} of ${supply}`] };
  if (tooMuch.length > 0) return { verdict: 'refused', reasons: tooMuch };
  return {
    verdict: 'blind',
    reasons: [`none sold ${sold ?? 'an unknown number'} of ${supply}: it must be seen to oversell`],
  };
}

const overloadCodes = new Set(['DATABASE_UNAVAILABLE', 'UPSTREAM_UNAVAILABLE']);

/** The 5xx of a block: those that a system gives which has more to do than it can, and the others. */
export function errorsOf(records: readonly ClientRecord[]): Pick<Evidence, 'serverErrors' | 'overloadErrors'> {
  const errors = records.filter(({ status }) => status >= 500);
  const overloadErrors = errors.filter(({ code }) => overloadCodes.has(code)).length;
  return { serverErrors: errors.length - overloadErrors, overloadErrors };
}
