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

/** A block that had nothing to say (no turn, no gap between two) is left out. */
export function spread(values: readonly number[]): Spread {
  // In a file of results NaN became null.
  const known = values.filter((value: number | null) => value !== null && !Number.isNaN(value));
  return { median: percentile(known, 0.5), min: Math.min(...known), max: Math.max(...known) };
}

/** Three digits are what a benchmark can know. */
export function rounded(value: number): string {
  if (Number.isNaN(value)) return '-';
  if (value === Infinity) return 'inf';
  const digits = value >= 100 || value === 0 ? 0 : value >= 10 ? 1 : 2;
  return value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
}

export function shown({ median, min, max }: Spread): string {
  // JSON has null for NaN.
  if (median === null || Number.isNaN(median)) return '-';
  return min === max ? rounded(median) : `${rounded(median)} (${rounded(min)} .. ${rounded(max)})`;
}
