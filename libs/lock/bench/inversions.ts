import type { Turn } from './figures.js';

/** Requests this close to each other came at the same time: no library could tell their order. */
const sameTimeMs = 1;

/**
 * Pairs of requests that waited at the same time, and those of them in which the one that came later was served earlier. Strict
 * order of arrival has none; where chance decides it is half. A binary indexed tree counts the grants of those who came
 * before, so that a block of a hundred thousand turns takes no longer than its block.
 */
export function inversionsOf(turns: readonly Pick<Turn, 'asked' | 'granted'>[]): { pairs: number; inverted: number } {
  const byGrant = turns.toSorted((one, other) => one.granted - other.granted);
  const placeOf = new Map(byGrant.map((turn, place) => [turn, place]));
  const byArrival = turns.toSorted((one, other) => one.asked - other.asked);
  const tree = new Int32Array(turns.length + 1);
  const add = (place: number) => {
    for (let at = place + 1; at < tree.length; at += at & -at) tree[at]! += 1;
  };
  /** Of those who were added: granted at a place before this one. */
  const before = (place: number): number => {
    let sum = 0;
    for (let at = place; at > 0; at -= at & -at) sum += tree[at]!;
    return sum;
  };

  let pairs = 0;
  let inverted = 0;
  let earlier = 0;
  let granted = 0;
  for (const turn of byArrival) {
    while (byArrival[earlier]!.asked < turn.asked - sameTimeMs) {
      add(placeOf.get(byArrival[earlier]!)!);
      earlier += 1;
    }
    while (granted < byGrant.length && byGrant[granted]!.granted <= turn.asked) granted += 1;
    pairs += earlier - before(granted);
    inverted += earlier - before(placeOf.get(turn)!);
  }
  return { pairs, inverted };
}
