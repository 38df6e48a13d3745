import type { Lease } from '../../lease.js';
import { FenceBook } from './fence-book.js';
import type { OperationPlan } from './plan.js';
import type { SimulatedProcess } from './process.js';
import type { VirtualTime } from './virtual-time.js';

/** One operation as its caller sees it: invoked, then answered, refused or unknown. */
export interface OperationRecord {
  plan: OperationPlan;
  process: SimulatedProcess;
  /** The client that was asked: several may live in one process. */
  client: object;
  phase: 'waiting' | 'held' | 'releasing' | 'over';
  startedAt: number;
  stoppedMsBefore: number;
  /** By when its present phase must be over, while its process runs. */
  endBy: number;
  /** How often its body ran, and how often its write was accepted. */
  grants: number;
  writes: number;
  refused: boolean;
  /** Somebody had or wanted one of its keys meanwhile: then "busy" is true. */
  sawContention: boolean;
  freeSince?: number;
}

export interface LeaseRecord {
  lease: Lease;
  process: SimulatedProcess;
  sentAt: number;
  ended: boolean;
}

/** The store broke its promise then: it forgot, its clock jumped ahead, or an operator took the lock away. */
export interface BrokenPromise {
  at: number;
  key?: string;
}

export interface Surroundings {
  time: VirtualTime;
  /** Nobody holds any of the keys, as the servers see it. */
  free(keys: readonly string[]): boolean;
  /** When the last fault was over; -Infinity when there was none. */
  disturbedUntil(): number;
  callTimeoutMs: number;
  delayMs: number;
  rateOf(process: SimulatedProcess): number;
  recheckMs: number;
  /** Nothing that is planned keeps the news of a free lock from those who wait. */
  prompt: boolean;
  /** The longest time that any lease is given at once. */
  longestMs: number;
}

/** Watches from outside, believes nobody, and writes down what breaks a law. */
export class Witness {
  readonly violations: string[] = [];
  readonly records: OperationRecord[] = [];
  readonly broken: BrokenPromise[] = [];
  readonly facts: Record<string, number> = {};
  readonly #active: OperationRecord[] = [];
  readonly #leases = new Set<LeaseRecord>();
  readonly #fences: FenceBook;

  constructor(private readonly around: Surroundings) {
    this.#fences = new FenceBook((law) => this.violation(law));
  }

  get now(): number {
    return this.around.time.now;
  }

  get delayMs(): number {
    return this.around.delayMs;
  }

  violation(law: string): void {
    this.violations.push(`${this.around.time.now.toFixed(3)} ms: ${law}`);
  }

  count(fact: string): void {
    this.facts[fact] = (this.facts[fact] ?? 0) + 1;
  }

  promiseBroken(key?: string): void {
    this.broken.push({ at: this.around.time.now, key });
  }

  invoke(plan: OperationPlan, process: SimulatedProcess, client: object): OperationRecord {
    const waits = plan.kind !== 'try' && plan.options.waitMs !== 0;
    const { now } = this.around.time;
    // A single attempt may come behind a look that is under way, and the pause after that one failed.
    const limit = waits ? (plan.options.waitMs ?? 0) * 1.01 : this.around.callTimeoutMs * 2 * plan.keys.length + 150;
    const record: OperationRecord = {
      plan,
      process,
      client,
      phase: 'waiting',
      startedAt: now,
      stoppedMsBefore: process.stoppedMs,
      endBy: now + limit + 40,
      grants: 0,
      writes: 0,
      refused: false,
      sawContention: false,
    };
    this.records.push(record);
    this.#active.push(record);
    this.#lookForContention(record);
    return record;
  }

  phase(record: OperationRecord, phase: OperationRecord['phase'], forMs: number): void {
    record.phase = phase;
    record.freeSince = undefined;
    record.stoppedMsBefore = record.process.stoppedMs;
    record.endBy = this.around.time.now + forMs * 1.01 + 40;
  }

  granted(lease: Lease, process: SimulatedProcess, records: readonly OperationRecord[]): LeaseRecord {
    const { now } = this.around.time;
    const { hold } = lease;
    for (const record of records) {
      record.grants += 1;
      if (record.refused) this.violation(`operation ${record.plan.id} runs after it was refused (law 10)`);
    }
    const sentAt = now - (process.clock.now() - hold.confirmedAt) / this.around.rateOf(process);
    const granted: LeaseRecord = { lease, process, sentAt, ended: false };
    if (hold.remainingMs <= 0) this.count('granted when over');
    this.#fences.enter(lease, now, sentAt);
    for (const other of this.#leases) {
      if (!this.#shares(other.lease, lease) || !this.#believed(other)) continue;
      if (this.#excused(other, lease) || this.#excused(granted, other.lease))
        this.count('overlap that the store caused');
      else
        this.violation(`two leases of "${lease.key}" at once: fences ${other.lease.fence} and ${lease.fence} (law 1)`);
    }
    for (const other of this.#leases) if (other.process.dead || other.lease.hold.ended) this.#leases.delete(other);
    this.#leases.add(granted);
    this.count('grants');
    return granted;
  }

  /** The holder is about to write, and says that its lease is good. */
  writes(writer: LeaseRecord): void {
    for (const other of this.#leases) {
      if (other === writer || !this.#shares(other.lease, writer.lease) || !this.#believed(other)) continue;
      if (this.#excused(other, writer.lease) || this.#excused(writer, other.lease)) continue;
      this.violation(`"${writer.lease.key}" is written under two leases at once (law 1)`);
    }
  }

  ended(lease: LeaseRecord): void {
    lease.ended = true;
    this.#leases.delete(lease);
  }

  /** First come, first served inside a process, where one line serves all. */
  checkTurn(record: OperationRecord): void {
    const { plan, client } = record;
    if (!inOneLine(record) || record.grants > 0) return;
    for (const other of this.records) {
      if (other === record) break;
      if (other.client !== client || other.phase !== 'waiting' || other.grants > 0 || !inOneLine(other)) continue;
      if (other.plan.keys.toSorted().join() !== plan.keys.toSorted().join()) continue;
      this.violation(`operation ${plan.id} went before ${other.plan.id}, which came first to the same line`);
    }
  }

  /** After every event: who waits for something that is free, and who waits too long? */
  observe(): void {
    const { now } = this.around.time;
    for (const record of this.active) {
      const stoppedMs = record.process.stoppedMs - record.stoppedMsBefore;
      if (record.process.stopped) {
        record.freeSince = undefined;
        continue;
      }
      if (now > Math.max(record.endBy + stoppedMs, record.process.stoppedUntil + 40)) {
        record.endBy = Infinity;
        this.violation(`operation ${record.plan.id} (${record.plan.kind}) is still ${record.phase} (deadline)`);
      }
      if (record.phase === 'waiting') this.#lookForWaste(record);
    }
  }

  /** Begun and not over. The dead wait for nothing. */
  get active(): readonly OperationRecord[] {
    for (let at = 0; at < this.#active.length; at += 1) {
      const { phase, process } = this.#active[at]!;
      if (phase === 'over' || process.dead) this.#active.splice(at--, 1);
    }
    return this.#active;
  }

  #lookForWaste(record: OperationRecord): void {
    this.#lookForContention(record);
    const { now } = this.around.time;
    const { keys, kind, options } = record.plan;
    if (kind === 'try' || kind === 'close' || kind === 'force' || options.waitMs === 0) return;
    if (!this.around.free(keys) || this.#held(keys)) {
      record.freeSince = undefined;
      return;
    }
    const disturbedUntil = this.around.disturbedUntil();
    record.freeSince ??= now;
    const since = Math.max(record.freeSince, disturbedUntil, record.process.stoppedUntil);
    const pauseMs = options.strategy === 'spin' ? 150 : options.strategy === 'adaptive' ? 300 : 30;
    const prompt = disturbedUntil === -Infinity && this.around.prompt;
    const limit = prompt
      ? 8 * this.around.delayMs + pauseMs
      : this.around.recheckMs + 2 * this.around.callTimeoutMs + 400;
    if (now - since <= limit) return;
    record.freeSince = Infinity;
    this.violation(
      `operation ${record.plan.id} waits for "${keys.join(', ')}", free for ${Math.round(now - since)} ms (law 11)`,
    );
  }

  #lookForContention(record: OperationRecord): void {
    if (record.sawContention) return;
    const { keys } = record.plan;
    record.sawContention =
      !this.around.free(keys) ||
      this.#held(keys) ||
      this.#active.some(
        (other) => other !== record && other.phase !== 'over' && other.plan.keys.some((key) => keys.includes(key)),
      );
  }

  #held(keys: readonly string[]): boolean {
    for (const { lease, process } of this.#leases) {
      if (process.dead || !lease.keys.some((key) => keys.includes(key))) continue;
      return true;
    }
    return false;
  }

  #shares(a: Lease, b: Lease): boolean {
    return a.hold !== b.hold && a.keys.some((key) => b.keys.includes(key));
  }

  #believed({ lease, process, ended }: LeaseRecord): boolean {
    return !ended && !process.dead && lease.hold.remainingMs > 0;
  }

  /**
   * It was asked for before the store broke its promise, and the other came after that. No longer than a renewal may
   * take to find out.
   */
  #excused(early: LeaseRecord, late: Lease): boolean {
    const since = this.around.time.now - this.around.longestMs * 1.01 - this.around.callTimeoutMs;
    return this.broken.some(
      ({ at, key }) => at >= Math.max(early.sentAt, since) && (key === undefined || late.keys.includes(key)),
    );
  }
}

function inOneLine({ plan }: OperationRecord): boolean {
  const { localLine, strategy, waitMs } = plan.options;
  const lines = plan.kind === 'withLock' || plan.kind === 'acquire' || plan.kind === 'nested';
  return lines && localLine === true && strategy !== 'queue' && waitMs !== 0;
}
