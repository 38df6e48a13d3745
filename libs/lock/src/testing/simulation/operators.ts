import type { SimulatedProcess } from './process.js';

/**
 * Knows when an operator has taken a lock away from its holder: not when that was asked for, nor when it was answered, but
 * when it was done - which is all that excuses a lease beside the one that was taken away.
 */
export class Operators {
  /** Looks of an operator that are under way: process and the lock's name. */
  readonly #looking: { process: SimulatedProcess; key: string; lock: string }[] = [];
  /** What an operator has seen and may take away, now or much later. */
  readonly #doomed: { process: SimulatedProcess; key: string; token: string }[] = [];

  constructor(
    /** Where the store is a part of the process, it is done as soon as it is asked for. */
    private readonly atOnce: boolean,
    private readonly taken: (key: string) => void,
  ) {}

  begin(process: SimulatedProcess, key: string, lock: string): () => void {
    if (this.atOnce) {
      this.taken(key);
      return () => undefined;
    }
    const look = { process, key, lock };
    this.#looking.push(look);
    return () => void this.#looking.splice(this.#looking.indexOf(look), 1);
  }

  looked(process: SimulatedProcess, lock: string, token: string): void {
    const look = this.#looking.find((each) => each.process === process && each.lock === lock);
    if (look && token !== '') this.#doomed.push({ process, key: look.key, token });
  }

  released(process: SimulatedProcess, token: string): void {
    const doomed = this.#doomed.find((each) => each.process === process && each.token === token);
    if (doomed) this.taken(doomed.key);
  }
}
