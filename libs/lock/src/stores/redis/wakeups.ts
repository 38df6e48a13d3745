import { sleep, withDeadline, type Timer } from '../../ports/clock.js';
import type { StorePorts, Wakeups, Watch } from '../store.js';
import type { Names } from './names.js';
import type { RedisPort, RedisSubscriber } from './port.js';

const retryMs = 100;
/** A key's own subscription outlives its last waiter by this, so that lines that come and go do not subscribe each time. */
const lingerMs = 1000;

/** What is subscribed to: the pattern of all keys on a single node, one key's channel on a Cluster. */
interface Subscription {
  readonly name: string;
  live: boolean;
  keeping: boolean;
  wanted: () => boolean;
  onLive: () => void;
}

/** Who is to be woken for a key: one entry per contender, by token. */
interface Channel {
  readonly watchers: Map<string, () => void>;
  /** The key's own, on a Cluster, from the time its first contender had to wait. */
  subscription?: Subscription;
  idleSince?: number;
}

/**
 * The release channels over one subscriber connection per node. On a single node one pattern serves all keys from the start;
 * on a Cluster a key's sharded channel is subscribed to when its first contender has to wait, and left when it has none.
 */
export class RedisWakeups implements Wakeups {
  readonly #channels = new Map<string, Channel>();
  #subscriber?: RedisSubscriber;
  #pattern?: Subscription;
  #sweeper?: Timer;
  #closed = false;

  constructor(
    private readonly port: RedisPort,
    private readonly names: Names,
    private readonly ports: StorePorts,
    private readonly timeoutMs: number,
  ) {}

  start(): void {
    if (this.#subscriber || this.#closed) return;
    this.#subscriber = this.port.openSubscriber({
      message: (channel, message) => this.#onMessage(channel, message),
      lost: (name) => this.#onLost(name),
    });
    if (this.port.cluster) return;
    this.#pattern = {
      name: this.names.allChannels,
      live: false,
      keeping: false,
      wanted: () => true,
      onLive: () => {
        for (const channel of this.#channels.values()) wakeAll(channel);
      },
    };
    void this.#keep(this.#pattern);
  }

  watch(keys: readonly string[], token: string, wake: () => void): Watch {
    this.start();
    const channels = keys.map((key) => this.#channel(key));
    for (const channel of channels) channel.watchers.set(token, wake);
    const live = () => channels.every(({ subscription }) => (this.#pattern ?? subscription)?.live ?? false);
    return {
      listen: () => {
        if (this.port.cluster) for (const [index, key] of keys.entries()) this.#subscribe(key, channels[index]);
      },
      get live() {
        return live();
      },
      close: () => {
        for (const key of keys) this.#unwatch(key, token);
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#sweeper) this.ports.clock.clearTimeout(this.#sweeper);
    this.#channels.clear();
    await this.#subscriber?.close();
  }

  #channel(key: string): Channel {
    let channel = this.#channels.get(key);
    if (!channel) this.#channels.set(key, (channel = { watchers: new Map() }));
    channel.idleSince = undefined;
    return channel;
  }

  #subscribe(key: string, channel: Channel | undefined): void {
    if (!channel || channel.subscription) return;
    channel.subscription = {
      name: this.names.channel(key),
      live: false,
      keeping: false,
      wanted: () => this.#channels.get(key) === channel,
      onLive: () => wakeAll(channel),
    };
    void this.#keep(channel.subscription);
  }

  #unwatch(key: string, token: string): void {
    const channel = this.#channels.get(key);
    channel?.watchers.delete(token);
    if (!channel || channel.watchers.size > 0) return;
    if (!channel.subscription) {
      this.#channels.delete(key);
      return;
    }
    channel.idleSince = this.ports.clock.now();
    this.#sweeper ??= this.ports.clock.setTimeout(() => this.#sweep(), lingerMs);
  }

  #sweep(): void {
    this.#sweeper = undefined;
    const idleBefore = this.ports.clock.now() - lingerMs;
    let idle = false;
    for (const [key, channel] of this.#channels) {
      if (channel.idleSince === undefined) continue;
      if (channel.idleSince > idleBefore) {
        idle = true;
        continue;
      }
      this.#channels.delete(key);
      // Whether it is heard or not: nobody is waiting for it any more.
      if (channel.subscription?.live) this.#subscriber?.unsubscribe(channel.subscription.name).catch(() => undefined);
    }
    if (idle) this.#sweeper = this.ports.clock.setTimeout(() => this.#sweep(), lingerMs);
  }

  /** Subscribes until it is acknowledged; then whoever waits looks, because nobody knows what was published meanwhile. */
  async #keep(subscription: Subscription): Promise<void> {
    const { clock, random } = this.ports;
    if (subscription.keeping) return;
    subscription.keeping = true;
    while (!this.#closed && this.#subscriber && subscription.wanted()) {
      try {
        const subscribing = this.#subscriber.subscribe(subscription.name);
        await withDeadline(clock, this.timeoutMs, subscribing, () => new Error('no acknowledgement'));
        if (!subscription.wanted()) await this.#subscriber.unsubscribe(subscription.name);
        subscription.live = true;
        subscription.onLive();
        break;
      } catch {
        await sleep(clock, retryMs * (0.5 + random.next()));
      }
    }
    subscription.keeping = false;
  }

  #onLost(name: string): void {
    const subscription =
      this.#pattern?.name === name ? this.#pattern : this.#channels.get(this.names.keyOf(name))?.subscription;
    if (!subscription?.live) return;
    subscription.live = false;
    void this.#keep(subscription);
  }

  #onMessage(channelName: string, message: string): void {
    const channel = this.#channels.get(this.names.keyOf(channelName));
    if (!channel) return;
    if (message === '') return wakeAll(channel);
    // `process:token`: handed over to one waiter, who is here or in another process.
    channel.watchers.get(message.slice(message.indexOf(':') + 1))?.();
  }
}

function wakeAll(channel: Channel): void {
  for (const wake of channel.watchers.values()) wake();
}
