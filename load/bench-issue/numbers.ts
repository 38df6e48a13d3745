export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

/** What the blocks of one run said. */
export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Round by round: both were measured in the same minute of the machine. */
export const ratio = (ones: readonly number[], others: readonly number[]): Spread =>
  spread(ones.map((one, round) => one / others[round]!));

export const shown = ({ median, min, max }: Spread, digits = 0): string => {
  const text = (value: number) => value.toFixed(digits).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ' ');
  return `${text(median)} (${text(min)} .. ${text(max)})`;
};
