const began = performance.now();

export const elapsedMs = (): number => performance.now() - began;

/** What the benchmark is at: figures go to standard output, this does not. */
export const say = (text: string): void =>
  void process.stderr.write(`[${(elapsedMs() / 1000).toFixed(0).padStart(4)} s] ${text}\n`);

/** `1 h 02 min`, `3 min 20 s`, `45 s`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${two(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
}

/** Guesses of single blocks, corrected by how long those took that are over. */
export class TimeLeft {
  #leftMs: number;
  #doneMs = 0;
  readonly #startedMs = elapsedMs();

  constructor(guessMs: number) {
    this.#leftMs = guessMs;
  }

  done(guessMs: number): void {
    this.#leftMs -= guessMs;
    this.#doneMs += guessMs;
  }

  text(): string {
    const pace = this.#doneMs === 0 ? 1 : (elapsedMs() - this.#startedMs) / this.#doneMs;
    return `about ${duration(this.#leftMs * pace)} left`;
  }
}
