/** A row in a database, with the guard that the library ships for it: a fence older than the row's is refused. */
export class GuardedResource {
  value = 0;
  /** How many writes were accepted. */
  writes = 0;
  fence = 0;

  /** Read for update. False: stale. */
  claim(fence: number): boolean {
    if (fence < this.fence) return false;
    this.fence = fence;
    return true;
  }

  /** Read-modify-write, in the transaction's end: what it writes comes from what was read at the claim. */
  write(fence: number, readBefore: number): 'stale' | 'written' | 'lost update' {
    if (fence < this.fence) return 'stale';
    const untouched = this.value === readBefore;
    this.value = readBefore + 1;
    this.writes += 1;
    return untouched ? 'written' : 'lost update';
  }
}
