// When requests arrive. An open model: users come when they come, whether or not the system has answered the ones before.
// A closed loop (so many users, each waiting for its answer) hides stalls: one stall of 2 s showed as a p99 of 47 ms closed
// and 1990 ms open. So every scenario here is a list of phases with an arrival rate. Pure: k6 and Node both run this file.

export interface Phase {
  name: string;
  startSeconds: number;
  seconds: number;
  /** Arrivals per second. */
  rate: number;
  /** The first arrival's number in the whole shape: arrivals are numbered through, so that each can be a user of its own. */
  first: number;
}

export interface PhaseLength {
  name: string;
  rate: number;
  seconds: number;
  /** Seconds of silence before it, so that what the phase before left behind is finished. */
  pauseSeconds?: number;
}

/** Exactly so many: k6 may start more when its clock was late, and those do nothing. */
export const arrivalsOf = ({ rate, seconds }: { rate: number; seconds: number }): number =>
  Math.ceil(rate * seconds - 1e-9);

/** Phases one after another. A step up is instant: a sale opens, it does not ramp. */
export function inSequence(lengths: readonly PhaseLength[], firstUser = 0): Phase[] {
  const phases: Phase[] = [];
  let startSeconds = 0;
  let first = firstUser;
  for (const { name, rate, seconds, pauseSeconds = 0 } of lengths) {
    if (!(rate > 0) || !(seconds > 0)) throw new RangeError(`Phase ${name} needs a rate and a length above 0.`);
    startSeconds += pauseSeconds;
    phases.push({ name, startSeconds, seconds, rate, first });
    startSeconds += seconds;
    first += arrivalsOf({ rate, seconds });
  }
  return phases;
}

/** A quiet market, then the doors open. */
export function flashSale(sale: { steadyRate: number; steadySeconds: number; rate: number; seconds: number }): Phase[] {
  return inSequence([
    { name: 'steady', rate: sale.steadyRate, seconds: sale.steadySeconds },
    { name: 'burst', rate: sale.rate, seconds: sale.seconds },
  ]);
}

/** The same time at each of several rates, with a pause between. */
export function steps(rates: readonly number[], seconds: number, pauseSeconds: number, firstUser = 0): Phase[] {
  return inSequence(
    rates.map((rate) => ({ name: `at-${rate}`, rate, seconds, pauseSeconds })),
    firstUser,
  );
}

/** The same shape with more or fewer arrivals: the rates of all phases times `factor`. */
export function eased(phases: readonly Phase[], factor: number): Phase[] {
  let first = 0;
  return phases.map((phase) => {
    const changed = { ...phase, rate: Math.max(1, Math.round(phase.rate * factor)), first };
    first += arrivalsOf(changed);
    return changed;
  });
}

/** How many users a shape needs. */
export const usersOf = (phases: readonly Phase[]): number =>
  Math.max(0, ...phases.map((phase) => phase.first + arrivalsOf(phase)));

export const endOf = (phases: readonly Phase[]): number =>
  Math.max(0, ...phases.map(({ startSeconds, seconds }) => startSeconds + seconds));

export interface ArrivalScenario {
  executor: 'constant-arrival-rate';
  exec: string;
  rate: number;
  timeUnit: '1s';
  startTime: string;
  duration: string;
  preAllocatedVUs: number;
  maxVUs: number;
  gracefulStop: string;
}

/**
 * k6 behind its schedule catches up, but only until the phase ends: on a busy machine the last arrivals were missing. So it is
 * given this much longer, and what it starts beyond the phase's own arrivals does nothing. Less in the search for the knee, where
 * the next phase comes soon and a dropped arrival is a finding.
 */
export const catchUpSeconds = { measured: 1.5, searching: 0.5 };

/**
 * A phase as k6 wants it. Whole numbers per time unit only: a rate of 0.5/s is not needed here and refused.
 * The users who can be waiting at once are set up beforehand, because setting them up during a burst delays the burst.
 */
export function arrivalScenario(
  phase: Phase,
  exec: string,
  { maxWaiting, dropsAllowed }: { maxWaiting: number; dropsAllowed: boolean },
): ArrivalScenario {
  const catchUp = dropsAllowed ? catchUpSeconds.searching : catchUpSeconds.measured;
  if (!Number.isInteger(phase.rate))
    throw new RangeError(`Phase ${phase.name}: ${phase.rate} is no whole rate per second.`);
  if (phase.seconds < 1) throw new RangeError(`Phase ${phase.name}: k6 wants a second at least.`);
  // One for each arrival: none of them can want for a user, however many are still waiting for their answers.
  const vus = Math.max(1, Math.min(arrivalsOf(phase), Math.ceil(maxWaiting)));
  return {
    executor: 'constant-arrival-rate',
    exec,
    rate: phase.rate,
    timeUnit: '1s',
    startTime: `${Math.round(phase.startSeconds * 1000)}ms`,
    duration: `${Math.round((phase.seconds + catchUp) * 1000)}ms`,
    preAllocatedVUs: vus,
    maxVUs: vus,
    // Longer than any deadline of the system (LOCK_WAIT_MS is 10 s): nobody is cut off while waiting for an answer.
    gracefulStop: '20s',
  };
}
