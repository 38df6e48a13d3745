// What was promised when the library was designed, as ratios and small times of one run.
import { measure } from './contenders/index.js';
import type { Spread } from './numbers.js';
import { of, ratio, rowOf, type CellResult, type Verdict } from './results.js';

/** Only those whose cells were measured. */
export function targetsOf(cells: readonly CellResult[]): Verdict[] {
  const crowd = (waiters: number) =>
    cells.find(
      (cell) =>
        cell.waiters === waiters &&
        cell.processes === 2 &&
        cell.holdMs === 0 &&
        !cell.oneShot &&
        cell.part !== 'hand-over',
    );
  const verdicts: Verdict[] = [];
  const judge = (name: string, value: Spread, met: boolean) => verdicts.push({ name, ...value, met });

  const line = rowOf(crowd(100), measure);
  const textbook = rowOf(crowd(100), 'pubsub, no local line');
  if (line && textbook) {
    const value = ratio(line, textbook);
    judge('pubsub with the local line is at least 20 times the one without', value, value.median >= 20);
  }
  const queue = rowOf(crowd(100), 'queue');
  if (queue) {
    const value = of(queue, ({ gapMs }) => gapMs.p50);
    judge('queue hands over in at most 1.5 ms (p50)', value, value.median <= 1.5);
  }
  for (const name of [measure, 'queue']) {
    const [many, few] = [rowOf(crowd(1000), name), rowOf(crowd(100), name)];
    if (!many || !few) continue;
    const value = ratio(many, few);
    judge(`${name}: 1000 waiters are at least 0.8 times as fast as 100`, value, value.median >= 0.8);
  }
  return verdicts;
}
