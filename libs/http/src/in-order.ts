/**
 * Results come out in the order in which the work went in. A token that is new takes longer to verify than one that is
 * known, and its user must not lose their place by that: first come is when the request came.
 */
export class InOrder {
  private last: Promise<unknown> | undefined;

  /** Nobody is under way, so nobody can be overtaken. */
  get idle(): boolean {
    return this.last === undefined;
  }

  after<R>(work: Promise<R>): Promise<R> {
    // Refused before its turn, it must not count as unhandled.
    work.catch(() => undefined);
    const mine = this.last ? this.last.then(() => work) : work;
    // A step later than `mine`: whoever waits for that goes on first.
    const last = mine.then(
      () => undefined,
      () => undefined,
    );
    this.last = last;
    void last.then(() => {
      if (this.last === last) this.last = undefined;
    });
    return mine;
  }
}
