import { sleep, withDeadline } from '../../ports/clock.js';
import type { StorePorts, Wakeups, Watch } from '../store.js';
import type { Names } from './names.js';
import type { RedisPort, RedisSubscriber } from './port.js';

const retryMs = 100;

/** Who is to be woken for a key: one entry per contender, by token. */
class Channel {
  readonly watchers = new Map<string, () => void>();
  live = false;
  /** Somebody wants the key's own subscription (Cluster). */
  wanted = false;
}

/**
 * The release channels over one subscriber connection. On a single node one pattern serves all keys from the start; on a
 * Cluster a key's sharded channel is subscribed to when its first contender has to wait, and left some time after its last.
 */
export class RedisWakeups implements Wakeups {
  readonly #channels = new Map<string, Channel>();
  #subscriber?: RedisSubscriber;
  #patternLive = false;
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
    if (!this.port.cluster) void this.#keepPattern();
  }

  watch(keys: readonly string[], token: string, wake: () => void): Watch {
    this.start();
    for (const key of keys) {
      let channel = this.#channels.get(key);
      if (!channel) this.#channels.set(key, (channel = new Channel()));
      channel.watchers.set(token, wake);
    }
    const live = () => keys.every((key) => this.#patternLive || (this.#channels.get(key)?.live ?? false));
    return {
      listen: () => undefined,
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
    await this.#subscriber?.close();
  }

  #unwatch(key: string, token: string): void {
    const channel = this.#channels.get(key);
    channel?.watchers.delete(token);
    if (channel?.watchers.size === 0) this.#channels.delete(key);
  }

  /** Subscribes until it is acknowledged; then everybody looks, because nobody knows what was published meanwhile. */
  async #keepPattern(): Promise<void> {
    while (!this.#closed && this.#subscriber) {
      try {
        await this.#acknowledged(this.#subscriber.subscribe(this.names.allChannels));
        this.#patternLive = true;
        for (const channel of this.#channels.values()) for (const wake of channel.watchers.values()) wake();
        return;
      } catch {
        await sleep(this.ports.clock, retryMs * (0.5 + this.ports.random.next()));
      }
    }
  }

  #acknowledged(subscribing: Promise<void>): Promise<void> {
    return withDeadline(this.ports.clock, this.timeoutMs, subscribing, () => new Error('no acknowledgement'));
  }

  #onLost(name: string): void {
    if (name !== this.names.allChannels || !this.#patternLive) return;
    this.#patternLive = false;
    void this.#keepPattern();
  }

  #onMessage(channelName: string, message: string): void {
    const channel = this.#channels.get(this.names.keyOf(channelName));
    if (!channel) return;
    if (message === '') {
      for (const wake of channel.watchers.values()) wake();
      return;
    }
    // `process:token`: handed over to one waiter, who is here or in another process.
    channel.watchers.get(message.slice(message.indexOf(':') + 1))?.();
  }
}
