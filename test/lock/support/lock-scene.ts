import type { Lease, Locks, LockError, LockOptions } from '@firstcome/lock';
import { ManualClock, settle } from '../../../libs/lock/src/testing/manual-clock.js';
import { Chance } from '../../../libs/lock/src/testing/simulation/chance.js';
import type { Library } from '../../../libs/lock/src/testing/simulation/library.js';
import type { Call, ClientName, Fairness, Held } from './lock-model.js';
import { LockModel } from './lock-model.js';
import { VirtualRedis } from './virtual-redis.js';

export interface Setting {
  name: string;
  store: 'memory' | 'redis';
  options: LockOptions;
  fairness: Fairness;
  handOver: number;
}

interface Outcome {
  call: Call;
  at: number;
  lease?: Lease;
  code: string;
}

/** Two clients of one store, in virtual time, beside the model of what they may do. */
export class Scene {
  readonly clock = new ManualClock();
  readonly model: LockModel;
  /** How often what was seen: what never happened proves nothing. */
  readonly seen: Record<string, number> = {};
  readonly #clients: Record<ClientName, Locks>;
  readonly #aborts = new Map<Call, AbortController>();
  readonly #outcomes: Outcome[] = [];
  readonly #redis = new VirtualRedis(this.clock);
  #calls = 0;

  constructor(library: Library, { store, options, fairness, handOver }: Setting) {
    this.model = new LockModel(fairness);
    const factory = store === 'memory' ? library.memoryStore() : library.redisPortStore(this.#redis.port());
    const client = (seed: number) =>
      library.createLocks({
        store: factory,
        clock: this.clock,
        random: new Chance(seed),
        defaults: options,
        handOver: { count: handOver },
      });
    this.#clients = { A: client(1), B: client(2) };
  }

  ask(
    client: ClientName,
    key: string,
    once: boolean,
    options: Required<Pick<LockOptions, 'ttlMs' | 'autoRenew' | 'waitMs'>>,
  ) {
    this.#calls += 1;
    const abort = new AbortController();
    const deadline = once ? Infinity : this.clock.now() + options.waitMs;
    const call: Call = { id: this.#calls, client, key, once, deadline, ...options, aborted: false };
    this.#aborts.set(call, abort);
    this.model.asked(call);
    const given = { ...options, signal: abort.signal };
    const locks = this.#clients[client];
    const asked = once ? locks.tryAcquire(key, given) : locks.acquire(key, given);
    asked.then(
      (lease) => this.#outcomes.push({ call, at: this.clock.now(), lease: lease ?? undefined, code: 'busy' }),
      (error: LockError) => this.#outcomes.push({ call, at: this.clock.now(), code: error.code }),
    );
  }

  abort(call: Call): void {
    call.aborted = true;
    this.#aborts.get(call)?.abort();
  }

  async release(held: Held): Promise<void> {
    const at = this.clock.now();
    this.model.released(held, await held.lease.release(), at);
    this.#saw('released');
  }

  async extend(held: Held, ms: number): Promise<void> {
    const code = await held.lease.extend(ms).then(
      () => 'ok',
      (error: LockError) => error.code,
    );
    this.model.extended(held, ms, code, this.clock.now());
    this.#saw(`extended: ${code}`);
  }

  async force(client: ClientName, key: string): Promise<void> {
    const at = this.clock.now();
    this.model.forced(key, await this.#clients[client].forceRelease(key), at);
    this.#saw('forced');
  }

  /** Whatever follows from the last command happens, and is judged. */
  async rest(): Promise<void> {
    await settle();
    for (const { call, lease, code, at } of this.#outcomes.splice(0)) {
      if (lease) this.model.granted(call, lease, at);
      else this.model.refused(call, code, at);
      this.#saw(lease ? 'granted' : code);
    }
    this.model.rest(this.clock.now());
  }

  /** Everything is given back, and nothing is left. */
  async end(): Promise<void> {
    await this.rest();
    for (let round = 0; this.model.open.length + this.model.waiting.length > 0; round += 1) {
      if (round > 1000) throw new Error('it does not come to an end');
      for (const held of this.model.open) await this.release(held);
      if (this.model.open.length === 0) await this.clock.advance(20);
      await this.rest();
    }
    await this.clock.advance(2000);
    for (const locks of Object.values(this.#clients)) {
      const { holds, waiters, keysInUse, tidying } = locks.stats();
      if (holds + waiters + keysInUse + tidying > 0) throw new Error(`left: ${JSON.stringify(locks.stats())}`);
      await locks.close();
    }
    const left = this.#redis.server.keys().filter((key) => !key.startsWith('lock:fence:'));
    if (left.length > 0) throw new Error(`left in Redis: ${left.join(', ')}`);
    if (this.clock.timers > 0) throw new Error(`${this.clock.timers} timers are left`);
  }

  #saw(what: string): void {
    this.seen[what] = (this.seen[what] ?? 0) + 1;
  }
}
