import type { Random } from '../../ports/random.js';

/** Everything a schedule leaves to chance comes from one seed (sfc32: small, fast, good enough to shuffle with). */
export class Chance implements Random {
  #a = 0x9e3779b9;
  #b = 0x243f6a88;
  #c: number;
  #d = 1;

  constructor(seed: number) {
    this.#c = seed >>> 0;
    this.#b ^= Math.floor(seed / 2 ** 32);
    for (let round = 0; round < 12; round += 1) this.next();
  }

  /** Uniform in [0, 1). */
  next(): number {
    const sum = (this.#a + this.#b + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  }

  token(): string {
    const word = () => (this.next() * 2 ** 32).toString(16).padStart(8, '0').slice(0, 8);
    return word() + word() + word() + word();
  }

  /** A whole number, both ends included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  real(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  /** True with this probability. */
  happens(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[Math.floor(this.next() * list.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }

  /** A stream of its own: what one part draws does not shift what another one gets. */
  fork(): Chance {
    return new Chance(Math.floor(this.next() * 2 ** 52));
  }
}
