import type { Cluster, Redis, RedisOptions } from 'ioredis';
import type { Call, RedisPort, RedisSubscriber, ScriptRun, SubscriberEvents } from './port.js';
import type { Script } from './script.js';

type Client = Redis | Cluster;

/** A client that connects, or reconnects, within a second is worth waiting for; the caller's deadline decides. */
const notReady = new Set(['wait', 'connecting', 'connect', 'reconnecting', 'close', 'disconnecting']);

/**
 * ioredis behind the port. Nothing here depends on how the user set the client up: no call enters its offline queue, reply
 * types are converted by the caller, and the subscriber is a duplicate with settings of our own.
 */
export class IoredisPort implements RedisPort {
  readonly cluster: boolean;
  readonly prefix: string;
  readonly #known = new Set<string>();
  #ready?: Promise<void>;

  constructor(private readonly client: Client) {
    this.cluster = client.isCluster;
    this.prefix = String(client.options.keyPrefix ?? '');
  }

  async run(script: Script, { keys, args }: ScriptRun, call: Call): Promise<unknown> {
    if (this.client.status !== 'ready') await this.#whenReady();
    if (call.abandoned) throw new Error('given up before it was sent');
    if (!this.#known.has(script.sha)) return this.#eval(script, keys, args);
    try {
      return await this.client.evalsha(script.sha, keys.length, ...keys, ...args);
    } catch (error) {
      // The server was restarted, or failed over to one that never saw the script: nothing was run.
      if (isNoScript(error)) return this.#eval(script, keys, args);
      throw error;
    }
  }

  async runAll(script: Script, runs: readonly ScriptRun[], call: Call): Promise<unknown[]> {
    const settled = await Promise.allSettled(runs.map((run) => this.run(script, run, call)));
    return settled.map((result) => (result.status === 'fulfilled' ? result.value : toError(result.reason)));
  }

  openSubscriber(events: SubscriberEvents): RedisSubscriber {
    return new PatternSubscriber(this.client as Redis, events);
  }

  async #eval(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const reply = await this.client.eval(script.source, keys.length, ...keys, ...args);
    this.#known.add(script.sha);
    return reply;
  }

  /** One listener, however many calls wait: they share the promise. */
  #whenReady(): Promise<void> {
    if (!notReady.has(this.client.status))
      return Promise.reject(new Error(`the Redis client is in state "${this.client.status}"`));
    this.#ready ??= new Promise<void>((resolve, reject) => {
      const settle = (then: () => void) => () => {
        this.client.off('ready', onReady);
        this.client.off('end', onEnd);
        this.#ready = undefined;
        then();
      };
      const onReady = settle(resolve);
      const onEnd = settle(() => reject(new Error('the Redis client was closed')));
      this.client.on('ready', onReady);
      this.client.on('end', onEnd);
      // Created lazily: the first call connects it.
      if (this.client.status === 'wait') this.client.connect().catch(() => undefined);
    });
    return this.#ready;
  }
}

/** The release channels of a single node, or of the master that Sentinel names: one pattern on one connection. */
class PatternSubscriber implements RedisSubscriber {
  readonly #redis: Redis;
  readonly #names = new Set<string>();

  constructor(client: Redis, events: SubscriberEvents) {
    this.#redis = client.duplicate<RedisOptions>({
      // Names are whole here; the prefix is part of them.
      keyPrefix: '',
      lazyConnect: true,
      enableOfflineQueue: true,
      enableAutoPipelining: false,
      // Subscribing again is ours: only the acknowledgement tells that a message can no longer be missed.
      autoResubscribe: false,
      autoResendUnfulfilledCommands: true,
      maxRetriesPerRequest: null,
      commandTimeout: undefined,
      protocol: 2,
      connectionName: 'firstcome-lock-subscriber',
      // The default back-off grows to 5 s, and every waiter would hear nothing for as long.
      retryStrategy: (times) => Math.min(times * 50, 500),
    });
    this.#redis.on('pmessage', (_pattern: string, channel: string, message: string) =>
      events.message(channel, message),
    );
    this.#redis.on('close', () => {
      const names = [...this.#names];
      this.#names.clear();
      for (const name of names) events.lost(name);
    });
    // A connection that fails is tried again; whoever needs to know sees it as a late acknowledgement.
    this.#redis.on('error', () => undefined);
    this.#redis.connect().catch(() => undefined);
  }

  async subscribe(name: string): Promise<void> {
    await this.#redis.psubscribe(name);
    this.#names.add(name);
  }

  async unsubscribe(name: string): Promise<void> {
    this.#names.delete(name);
    await this.#redis.punsubscribe(name);
  }

  async close(): Promise<void> {
    this.#names.clear();
    this.#redis.disconnect();
  }
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
