/** One operation as its process saw it. Times are of the machine's monotonic clock. */
export interface Entry {
  process: number;
  key: string;
  invokedAt: number;
  /** The grant was known. */
  grantedAt: number;
  /** The last moment at which `assertHeld` still agreed: until then this process would have written. */
  heldUntil: number;
  fence: number;
  token: string;
  /** False when the lease was over before the process could look: it has not acted on it. */
  believed: boolean;
  outcome: 'ok' | 'stale' | 'lost' | 'unknown';
}

export interface Judgement {
  grants: number;
  /** Two processes believed at the same moment that the lock was theirs. */
  overlaps: [Entry, Entry][];
  /** A later grant with a fence that is not larger. */
  inversions: [Entry, Entry][];
}

/** Judges what the processes believed, key by key. */
export function judge(entries: readonly Entry[]): Judgement {
  const sorted = entries.filter(({ believed }) => believed).toSorted((one, other) => one.grantedAt - other.grantedAt);
  const last = new Map<string, { latest: Entry; highest: Entry }>();
  const judgement: Judgement = { grants: sorted.length, overlaps: [], inversions: [] };
  for (const entry of sorted) {
    const before = last.get(entry.key);
    if (!before) {
      last.set(entry.key, { latest: entry, highest: entry });
      continue;
    }
    if (entry.grantedAt < before.latest.heldUntil) judgement.overlaps.push([before.latest, entry]);
    if (entry.fence <= before.highest.fence) judgement.inversions.push([before.highest, entry]);
    if (entry.heldUntil > before.latest.heldUntil) before.latest = entry;
    if (entry.fence > before.highest.fence) before.highest = entry;
  }
  return judgement;
}
