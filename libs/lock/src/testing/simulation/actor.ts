import { getEventListeners } from 'node:events';
import type { Lease } from '../../lease.js';
import type { Locks } from '../../locks.js';
import type { Library } from './library.js';
import type { OperationPlan } from './plan.js';
import type { SimulatedProcess } from './process.js';
import type { GuardedResource } from './resource.js';
import type { OperationRecord, Witness } from './witness.js';

export interface Stage {
  library: Library;
  witness: Witness;
  resource(key: string): GuardedResource;
  /** An operator begins to take the key away; calls back when that is over, so far as the operator knows. */
  forcing(process: SimulatedProcess, key: string): () => void;
  callTimeoutMs: number;
  /** Something went wrong in this world by now: then "lost" and "broken" are honest answers. */
  faulty(): boolean;
  closeMs: number;
  trace(line: () => string): void;
}

/** The application in one process: does what is planned, works under the lock as one should, and tells the witness. */
export class Actor {
  closed = false;

  constructor(
    readonly process: SimulatedProcess,
    readonly locks: Locks,
    private readonly stage: Stage,
  ) {}

  async perform(plan: OperationPlan): Promise<void> {
    const record = this.stage.witness.invoke(plan, this.process, this);
    this.stage.trace(() => `${this.process.name}: ${plan.id} ${plan.kind} ${plan.keys.join(',')} invoked`);
    const options = { ...plan.options };
    if (plan.abortAfterMs !== undefined) options.signal = this.#abortAfter(plan.abortAfterMs);
    try {
      await this.#run(plan, record, options);
      this.#over(record, 'ok');
      if (options.signal && getEventListeners(options.signal, 'abort').length > 0) {
        this.stage.witness.violation(`operation ${plan.id} is over and still listens to its signal (law 10)`);
      }
    } catch (error) {
      this.#failed(record, error, options.signal);
    }
  }

  async #run(plan: OperationPlan, record: OperationRecord, options: OperationPlan['options']): Promise<void> {
    const { locks } = this;
    const [key = ''] = plan.keys;
    const target = plan.keys.length > 1 ? plan.keys : key;
    if (plan.kind === 'close') {
      this.closed = true;
      record.endBy = Infinity;
      this.stage.witness.phase(record, 'releasing', this.stage.closeMs);
      await locks.close();
    } else if (plan.kind === 'force') {
      this.stage.witness.phase(record, 'releasing', this.stage.callTimeoutMs);
      await locks.forceRelease(key).finally(this.stage.forcing(this.process, key));
    } else if (plan.kind === 'batch') {
      const answer = await locks.batch(key, record, this.#runBatch, options);
      if (answer !== plan.id * 10) this.stage.witness.violation(`batch gave ${plan.id} somebody else's result`);
      this.#wroteOnce(record);
    } else if (plan.kind === 'withLock' || plan.kind === 'nested') {
      const result = await locks.withLock(target, (lease) => this.#body(lease, record), options);
      if (result !== plan.id) this.stage.witness.violation(`withLock gave ${plan.id} somebody else's result`);
      this.#wroteOnce(record);
    } else {
      const lease =
        plan.kind === 'try' ? await locks.tryAcquire(target, options) : await locks.acquire(target, options);
      if (lease) await this.#hold(lease, record);
      else this.#busy(record);
    }
  }

  async #hold(lease: Lease, record: OperationRecord): Promise<void> {
    try {
      await this.#body(lease, record);
    } finally {
      const outcome = await lease.release();
      this.stage.trace(() => `${this.process.name}: ${record.plan.id} ${outcome}`);
      const { witness } = this.stage;
      const expected = this.#mayLose(record);
      if (outcome !== 'released' && !expected) witness.violation(`a release in calm weather says ${outcome}`);
      if (lease.remainingMs !== 0) witness.violation('a released lease has time left');
    }
  }

  /** The one critical section: claim the row under the fence, work, look at the lease, write under the fence. */
  async #body(lease: Lease, record: OperationRecord): Promise<number> {
    const { witness } = this.stage;
    const { plan } = record;
    witness.checkTurn(record);
    witness.phase(record, 'held', plan.workMs + (plan.extendMs === undefined ? 0 : this.stage.callTimeoutMs));
    const held = witness.granted(lease, this.process, [record]);
    this.stage.trace(() => `${this.process.name}: ${plan.id} granted ${lease.key} fence ${lease.fence}`);
    try {
      const read = this.#claim(lease);
      if (plan.kind === 'nested') await this.#nested(lease, plan);
      if (plan.extendMs !== undefined) {
        await this.#work(plan.workMs / 2);
        await lease.extend(plan.extendMs);
        await this.#work(plan.workMs / 2);
      } else await this.#work(plan.workMs);
      lease.assertHeld();
      witness.writes(held);
      this.#write(lease, read, [record]);
      if (plan.settles) lease.settled();
      return plan.id;
    } finally {
      witness.phase(record, 'releasing', this.#releaseMs(plan));
      witness.ended(held);
    }
  }

  async #nested(outer: Lease, plan: OperationPlan): Promise<void> {
    await this.locks.withLock(
      plan.keys[0] ?? '',
      async (inner) => {
        if (inner.fence !== outer.fence) this.stage.witness.violation('re-entry took another lock (law 12)');
      },
      plan.options,
    );
  }

  readonly #runBatch = async (records: OperationRecord[], lease: Lease): Promise<number[]> => {
    const { witness } = this.stage;
    const workMs = Math.max(...records.map(({ plan }) => plan.workMs));
    for (const record of records) witness.phase(record, 'held', workMs);
    const ids = records.map(({ plan }) => plan.id);
    this.stage.trace(() => `${this.process.name}: batch of ${ids.join(' ')} granted fence ${lease.fence}`);
    const started = this.stage.witness.records;
    const order = records.map((record) => started.indexOf(record));
    if (order.some((place, index) => index > 0 && place < order[index - 1]!)) witness.violation('a batch out of order');
    const held = witness.granted(lease, this.process, records);
    try {
      const read = this.#claim(lease);
      await this.#work(workMs);
      lease.assertHeld();
      witness.writes(held);
      this.#write(lease, read, records);
      if (records[0]?.plan.settles) lease.settled();
      return ids.map((id) => id * 10);
    } finally {
      // Whoever is in the batch hears of it when it is worked, or after the retry that follows a stale fence.
      for (const record of records) witness.phase(record, 'releasing', this.#releaseMs(record.plan));
      witness.ended(held);
    }
  };

  async #work(ms: number): Promise<void> {
    if (ms > 0) await this.process.sleep(ms);
  }

  #claim(lease: Lease): Map<string, number> {
    const read = new Map<string, number>();
    for (const key of lease.keys) {
      const resource = this.stage.resource(key);
      if (!resource.claim(lease.fence)) throw this.#stale(lease, resource);
      read.set(key, resource.value);
    }
    return read;
  }

  #write(lease: Lease, read: Map<string, number>, records: readonly OperationRecord[]): void {
    for (const [key, value] of read) {
      const resource = this.stage.resource(key);
      const outcome = resource.write(lease.fence, value);
      if (outcome === 'stale') throw this.#stale(lease, resource);
      if (outcome === 'lost update') this.stage.witness.violation(`an update of "${key}" was lost (law 18)`);
    }
    for (const record of records) record.writes += 1;
  }

  #stale(lease: Lease, resource: GuardedResource): Error {
    this.stage.witness.count('stale writes refused');
    if (this.stage.witness.broken.length === 0) this.stage.witness.violation('the guard had to act in calm weather');
    return new this.stage.library.StaleFenceError(lease.fence, resource.fence, { key: lease.key });
  }

  /** Also a retry after a stale fence fits in: raise, release, wait again, work again. */
  #releaseMs(plan: OperationPlan): number {
    const again = this.stage.witness.broken.length > 0 ? (plan.options.waitMs ?? 0) + plan.workMs : 0;
    return 3 * this.stage.callTimeoutMs + again;
  }

  #wroteOnce(record: OperationRecord): void {
    if (record.writes !== 1) {
      this.stage.witness.violation(`operation ${record.plan.id} was answered, and written ${record.writes} times`);
    }
  }

  #busy(record: OperationRecord): void {
    record.refused = true;
    if (!record.sawContention) this.stage.witness.violation('busy, and nobody had or wanted the lock (law 9)');
  }

  #failed(record: OperationRecord, error: unknown, signal: AbortSignal | undefined): void {
    const { witness } = this.stage;
    const { code, key, waitedMs } = error as { code?: string; key?: unknown; waitedMs?: unknown };
    const { plan, grants } = record;
    const waited = (witness.now - record.startedAt) * 1.005 + 2;
    const waits = plan.kind !== 'try' && plan.options.waitMs !== 0;
    const honest: Record<string, () => boolean> = {
      LOCK_TIMEOUT: () => waits && waited >= (plan.options.waitMs ?? 0),
      LOCK_BUSY: () => !waits && record.sawContention,
      LOCK_ABORTED: () => this.closed || signal?.aborted === true,
      LOCK_LOST: () => grants > 0 && this.#mayLose(record),
      LOCK_BACKEND_UNAVAILABLE: () => this.stage.faulty(),
      LOCK_QUEUE_FULL: () => plan.options.maxWaiters !== undefined || plan.kind === 'batch',
      STALE_FENCE: () => witness.broken.length > 0,
    };
    if (!honest[code ?? '']?.()) {
      witness.violation(`operation ${plan.id} (${plan.kind}) failed with ${code ?? String(error)}: not honest (law 9)`);
    }
    if (typeof key !== 'string' || typeof waitedMs !== 'number')
      witness.violation(`${code} without key or time (law 9)`);
    const unknown = code === 'LOCK_LOST' || code === 'STALE_FENCE' || code === 'LOCK_BACKEND_UNAVAILABLE' || grants > 0;
    if (!unknown) record.refused = true;
    this.#over(record, code ?? 'failed');
  }

  /** A fixed lease that its work outlives, a forced release, a client that closes over its holders, a stopped process. */
  #mayLose({ plan, process }: OperationRecord): boolean {
    const { autoRenew, ttlMs = 0 } = plan.options;
    const left =
      Math.min(ttlMs, autoRenew ? Infinity : (plan.extendMs ?? Infinity)) * 0.98 - 3 * this.stage.witness.delayMs - 10;
    const workMs = plan.kind === 'batch' ? 150 : plan.workMs;
    const outlived = autoRenew === false && workMs >= left / 2;
    return (
      outlived || this.stage.faulty() || this.closed || process.stoppedMs > 0 || this.stage.witness.broken.length > 0
    );
  }

  #over(record: OperationRecord, outcome: string): void {
    record.phase = 'over';
    this.stage.witness.count(outcome);
    this.stage.trace(() => `${this.process.name}: ${record.plan.id} ${record.plan.kind} ${outcome}`);
  }

  #abortAfter(ms: number): AbortSignal {
    const controller = new AbortController();
    this.process.later(ms, () => controller.abort());
    return controller.signal;
  }
}
