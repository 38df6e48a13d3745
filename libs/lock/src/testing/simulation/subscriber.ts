import type { RedisSubscriber, SubscriberEvents } from '../../stores/redis/port.js';
import type { Network } from './connection.js';
import type { RedisHost, Subscription } from './host.js';
import type { SimulatedProcess } from './process.js';

interface Wanted {
  subscription?: Subscription;
  acknowledged: boolean;
  waiting: { resolve(): void; reject(error: Error): void }[];
}

/** The subscriber connection of one process to one server. It reconnects by itself; whether it subscribes again is its user's. */
export class SimulatedSubscriber implements RedisSubscriber {
  readonly #names = new Map<string, Wanted>();
  /** What the server sends over this connection. It ends with the connection, also what is just being unsubscribed. */
  readonly #standing = new Set<Subscription>();
  #epoch = 0;
  #upAt = 0;
  #deliversAt = 0;
  #closed = false;

  constructor(
    private readonly network: Network,
    private readonly process: SimulatedProcess,
    private readonly host: RedisHost,
    private readonly events: SubscriberEvents,
  ) {
    this.#upAt = network.time.now + network.reconnectMs();
    host.connect(this);
  }

  subscribe(name: string): Promise<void> {
    let wanted = this.#names.get(name);
    if (!wanted) this.#names.set(name, (wanted = { acknowledged: false, waiting: [] }));
    const { waiting } = wanted;
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      this.#send(name);
    });
  }

  async unsubscribe(name: string): Promise<void> {
    const wanted = this.#names.get(name);
    this.#names.delete(name);
    const epoch = this.#epoch;
    this.network.time.in(this.network.delayMs(), () => {
      if (wanted?.subscription && epoch === this.#epoch) this.#end(wanted.subscription);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#drop();
    for (const { waiting } of this.#names.values()) {
      for (const each of waiting.splice(0)) each.reject(new Error('Connection is closed.'));
    }
    this.#names.clear();
    this.host.disconnect(this);
  }

  /** The connection breaks; the process hears of it a little later. Whatever is published until then is gone. */
  broken(): void {
    if (this.#closed) return;
    this.network.trace(() => `${this.process.name}: subscriber broken`);
    this.#drop();
    this.#upAt = this.network.time.now + this.network.reconnectMs();
    this.process.deliver(this.network.time.now + this.network.delayMs(), () => {
      for (const [name, wanted] of Array.from(this.#names)) {
        if (wanted.acknowledged) {
          this.#names.delete(name);
          this.events.lost(name);
        } else this.#send(name);
      }
    });
  }

  #drop(): void {
    this.#epoch += 1;
    for (const subscription of this.#standing) this.#end(subscription);
    for (const wanted of this.#names.values()) wanted.subscription = undefined;
  }

  #end(subscription: Subscription): void {
    this.#standing.delete(subscription);
    this.host.unsubscribe(subscription);
  }

  #send(name: string): void {
    const { time } = this.network;
    const upAt = Math.max(this.#upAt, this.host.down ? this.host.downUntil + this.network.delayMs() : 0);
    if (upAt > time.now) {
      this.process.deliver(upAt, () => this.#closed || this.#send(name));
      return;
    }
    const epoch = this.#epoch;
    time.in(this.network.delayMs(), () =>
      this.host.whenRunning(() => {
        if (epoch === this.#epoch && !this.host.down && !this.process.dead) this.#subscribed(name);
      }),
    );
  }

  #subscribed(name: string): void {
    const wanted = this.#names.get(name);
    if (!wanted) return;
    if (!wanted.subscription) {
      const receive = (channel: string, message: string) => this.#deliver(() => this.events.message(channel, message));
      wanted.subscription = { name, receive };
      this.#standing.add(wanted.subscription);
      this.host.subscribe(wanted.subscription);
    }
    this.#deliver(() => {
      wanted.acknowledged = true;
      for (const each of wanted.waiting.splice(0)) each.resolve();
    });
  }

  /** In order, and only on the connection on which it was sent. */
  #deliver(work: () => void): void {
    const epoch = this.#epoch;
    this.#deliversAt = Math.max(this.#deliversAt, this.network.time.now + this.network.delayMs());
    this.process.deliver(this.#deliversAt, () => {
      if (epoch === this.#epoch && !this.#closed) work();
    });
  }
}
