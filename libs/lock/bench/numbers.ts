/** What several blocks of one run said. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export function spread(values: readonly number[]): Spread {
  return { median: percentile(values, 0.5), min: Math.min(...values), max: Math.max(...values) };
}

export function shown({ median, min, max }: Spread, digits = 0): string {
  const text = (value: number) => value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
  return `${text(median)} (${text(min)} .. ${text(max)})`;
}
