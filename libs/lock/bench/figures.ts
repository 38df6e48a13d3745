// From turns to figures. Nothing here waits or measures: the same turns give the same figures.
import type { Measured, Times } from './block.js';
import { inversionsOf } from './inversions.js';
import { percentile } from './numbers.js';

export interface Turn {
  process: number;
  asked: number;
  granted: number;
  /** The body is over, the release begins. */
  ended: number;
}

export interface BlockFigures {
  turns: number;
  perSecond: number;
  /** From the end of a body to the next grant, whichever process it was in. */
  gapMs: { p50: number; p99: number };
  /** From the request to its grant, of those that were granted. */
  waitMs: { p50: number; p99: number };
  failures: Record<string, number>;
  /** Waiters that had no turn before the end. */
  starved: number;
  /** Of the pairs of requests that waited at the same time and came more than 1 ms apart: later come, earlier served. */
  inversionShare: number;
  /** Grants of the whole block, warm-up included, while another body ran: two holders at once. */
  overlaps: number;
  nodeCpuUs: number;
  redisCpuUs: number;
  /** The longest time in which one process had no turn. */
  longestGapMs: number;
  /** Of the turns, what the process that had the fewest got; fair is one through the number of processes. */
  leastShare: number;
}

export function turnsOf(measured: readonly Pick<Measured, 'turns'>[]): Turn[] {
  const all: Turn[] = [];
  for (const [process, { turns }] of measured.entries()) {
    for (let at = 0; at < turns.length; at += 3) {
      all.push({ process, asked: turns[at]!, granted: turns[at + 1]!, ended: turns[at + 2]! });
    }
  }
  return all.toSorted((one, other) => one.granted - other.granted);
}

/** In order of their grants. */
export function overlapsOf(turns: readonly Turn[]): number {
  let overlaps = 0;
  let busyUntil = -Infinity;
  for (const { granted, ended } of turns) {
    if (granted < busyUntil) overlaps += 1;
    busyUntil = Math.max(busyUntil, ended);
  }
  return overlaps;
}

export function figuresOf(measured: readonly Measured[], times: Times, redisCpuMs: number): BlockFigures {
  const all = turnsOf(measured);
  const turns = all.filter(({ granted }) => granted >= times.beginAt);
  const elapsedMs = Math.max(...measured.map(({ doneAt }) => doneAt)) - times.beginAt;
  const gaps = turns.slice(1).map(({ granted }, index) => Math.max(0, granted - turns[index]!.ended));
  const waits = turns.map(({ asked, granted }) => granted - asked);
  const byProcess = measured.map((_each, process) => turns.filter((turn) => turn.process === process));
  const least = Math.min(...byProcess.map(({ length }) => length));
  const pauses = byProcess.flatMap((own) => own.slice(1).map(({ granted }, index) => granted - own[index]!.granted));
  const { pairs, inverted } = inversionsOf(turns);
  const perTurnUs = (ms: number) => (turns.length === 0 ? NaN : (ms * 1000) / turns.length);
  return {
    turns: turns.length,
    perSecond: (turns.length / elapsedMs) * 1000,
    gapMs: { p50: percentile(gaps, 0.5), p99: percentile(gaps, 0.99) },
    waitMs: { p50: percentile(waits, 0.5), p99: percentile(waits, 0.99) },
    failures: together(measured.map(({ failures }) => failures)),
    starved: measured.reduce((sum, { starved }) => sum + starved, 0),
    inversionShare: pairs === 0 ? NaN : inverted / pairs,
    overlaps: overlapsOf(all),
    nodeCpuUs: perTurnUs(measured.reduce((sum, { cpuMs }) => sum + cpuMs, 0)),
    redisCpuUs: perTurnUs(redisCpuMs),
    // One that had no turn at all was without for the whole block.
    longestGapMs: least === 0 ? elapsedMs : pauses.reduce((longest, pause) => Math.max(longest, pause), 0),
    leastShare: least / turns.length,
  };
}

/** Sums by name. */
export function together(counts: readonly Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const each of counts) for (const [name, count] of Object.entries(each)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

export const sumOf = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
