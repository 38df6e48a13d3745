import { RedisServer, type Reply } from './redis-server.js';
import type { VirtualTime } from './virtual-time.js';

/** 2026, in microseconds. */
const epochUs = 1_790_000_000_000_000;

export interface Subscription {
  name: string;
  receive(channel: string, message: string): void;
}

/** The machine that a Redis runs on: it can stop, go away, come back empty or with an older memory, and its wall clock can jump. */
export class RedisHost {
  readonly server: RedisServer;
  readonly #subscriptions = new Set<Subscription>();
  readonly #connections = new Set<{ broken(): void }>();
  #offsetMs = 0;
  #stoppedUntil = 0;
  #downUntil = 0;

  constructor(
    private readonly time: VirtualTime,
    private readonly rate: number,
  ) {
    this.server = new RedisServer(() => epochUs + (this.time.now * this.rate + this.#offsetMs) * 1000);
    this.server.onPublish = (channel, message) => {
      for (const subscription of this.#subscriptions) {
        const { name } = subscription;
        const matches = name.endsWith('*') ? channel.startsWith(name.slice(0, -1)) : channel === name;
        if (matches) subscription.receive(channel, message);
      }
    };
  }

  get down(): boolean {
    return this.#downUntil > this.time.now;
  }

  get stopped(): boolean {
    return this.#stoppedUntil > this.time.now;
  }

  get downUntil(): number {
    return this.#downUntil;
  }

  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  subscribe(subscription: Subscription): void {
    this.#subscriptions.add(subscription);
  }

  unsubscribe(subscription: Subscription): void {
    this.#subscriptions.delete(subscription);
  }

  connect(connection: { broken(): void }): void {
    this.#connections.add(connection);
  }

  disconnect(connection: { broken(): void }): void {
    this.#connections.delete(connection);
  }

  /** Runs the work now, or when the host goes on again. */
  whenRunning(work: () => void): void {
    if (this.#stoppedUntil > this.time.now) this.time.at(this.#stoppedUntil, () => this.whenRunning(work));
    else work();
  }

  run(source: string, keys: readonly string[], args: readonly (string | number)[]): Reply {
    return this.server.eval(source, keys, args);
  }

  stop(ms: number): void {
    this.#stoppedUntil = Math.max(this.#stoppedUntil, this.time.now + ms);
  }

  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  /** Every connection breaks; what the memory is when it is back is decided now. */
  restart(downMs: number, memory: () => void): void {
    memory();
    this.#downUntil = this.time.now + downMs;
    for (const connection of this.#connections) connection.broken();
  }
}
