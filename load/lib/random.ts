// Seeded randomness: a run prints its seed, and the same seed draws the same order of blocks, users and baskets.

export type Random = () => number;

/** mulberry32: 32 bits of state, uniform in [0, 1). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other]!, result[last]!];
  }
  return result;
}

/** Draws indexes 0..count-1 where the k-th is drawn in proportion to 1/(k+1)^exponent: a few are hot, most are not. */
export function zipf(count: number, exponent: number): (random: Random) => number {
  const cumulative: number[] = [];
  let sum = 0;
  for (let place = 1; place <= count; place += 1) cumulative.push((sum += 1 / place ** exponent));
  return (random) => {
    const target = random() * sum;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulative[middle]! > target) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
