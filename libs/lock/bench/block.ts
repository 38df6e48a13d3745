// What a process of the benchmark is told, and what it tells: open, go, close. Plain data: it travels between processes.

export interface Block {
  port: number;
  key: string;
  contender: string;
  /** In this process. */
  waiters: number;
  /** Most turns of a waiter: no bound in a closed loop, 1 in a one-shot burst. */
  turns: number;
  holdMs: number;
  /** A process that never ran this contender runs it by itself for so long first: its code is compiled by then. */
  youthMs: number;
}

/** By the machine's monotonic clock. What was granted before `beginAt` was warming up. */
export interface Times {
  startAt: number;
  beginAt: number;
  endAt: number;
}

/** Of one process. */
export interface Measured {
  /** Of each turn, three numbers: asked, granted, about to release. */
  turns: Float64Array;
  /** Errors that the library threw, and rejections that nobody handled, by their message. */
  failures: Record<string, number>;
  /** Waiters that had no turn. */
  starved: number;
  /** From `beginAt` on. */
  cpuMs: number;
  /** When all had had their turns, or `endAt`. */
  doneAt: number;
}

export type Order = { open: Block } | { go: Times } | { close: true };

/** `drained: false`: some still wait, and will for long. Such a process is not used again. */
export type Answer = { ready: true } | { measured: Measured } | { drained: boolean } | { error: string };
