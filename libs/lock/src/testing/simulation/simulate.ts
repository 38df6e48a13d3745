import { library as own, type Library } from './library.js';
import { planOf, type Plan, type PlanChoice } from './plan.js';
import { World } from './world.js';

export interface Verdict {
  seed: number;
  plan: Plan;
  violations: string[];
  /** What happened how often: a fault that never bit proves nothing. */
  facts: Record<string, number>;
  /** Filled when tracing. */
  trace: string[];
}

export interface SimulateOptions extends Partial<PlanChoice> {
  library?: Library;
  tracing?: boolean;
  /** Bends the plan of every seed towards what is looked for. */
  adjust?: (plan: Plan) => void;
}

const drained = () => new Promise<void>((resolve) => setImmediate(resolve));
// Ordinary schedules have some hundreds; Redlock without a trusted majority tries for 30 s.
const maxEvents = 200_000;

/** Runs the schedule of one seed, in virtual time, and says which laws it saw broken. */
export async function simulate(seed: number, options: SimulateOptions = {}): Promise<Verdict> {
  const library = options.library ?? own;
  const choice: PlanChoice = {
    stores: options.stores ?? ['redis', 'redis', 'redis', 'cluster', 'redlock', 'memory'],
    strategies: (options.strategies ?? library.strategies).filter((name) => library.strategies.includes(name)),
    weather: options.weather ?? 'any',
  };
  const plan = planOf(seed, choice);
  options.adjust?.(plan);
  const world = new World(plan, library, options.tracing ?? false);
  const { witness } = world;
  let events = 0;
  const run = async (until: () => boolean): Promise<void> => {
    while (!until() && witness.violations.length < 20) {
      if (!world.step()) return;
      // Whatever the event set off in promises ends before the next one begins.
      await drained();
      world.observe();
      events += 1;
      if (events === maxEvents) witness.violation(`${maxEvents} events and no end: something is busy for nothing`);
      if (events >= maxEvents) return;
    }
  };
  const verdict = () => {
    return { seed, plan, violations: witness.violations, facts: { ...witness.facts, events }, trace: world.lines };
  };
  await run(() => world.unrest === '');
  // Whatever else there is to see comes of having been stopped in the middle.
  if (events >= maxEvents) return verdict();
  if (world.unrest !== '') witness.violation(`the world stands still before it is at rest: ${world.unrest}`);
  world.checkKeys();
  let settled = false;
  world.time.in(3000, () => (settled = true));
  await run(() => settled);
  world.checkQuiet();
  let closed = false;
  world.close().then(
    () => (closed = true),
    (error: unknown) => witness.violation(`close rejects: ${String(error)} (law 15)`),
  );
  await drained();
  await run(() => closed);
  if (!closed) witness.violation('close does not end (law 15)');
  // A minute later nothing may be left: no timer, and no key whose time is not over.
  world.time.in(70_000, () => undefined);
  await run(() => false);
  world.checkClosed();
  return verdict();
}
