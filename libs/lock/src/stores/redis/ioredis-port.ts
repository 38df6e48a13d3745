import type { Cluster, Redis } from 'ioredis';
import { PatternSubscriber, ShardSubscriber } from './ioredis-subscribers.js';
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
  /** Without re-sending, ioredis 6.0.0 never settles what was under way when the connection broke: these are told here. */
  readonly #unanswered = new Set<(error: Error) => void>();
  readonly #resends: boolean;
  #ready?: Promise<void>;

  constructor(private readonly client: Client) {
    this.cluster = client.isCluster;
    this.prefix = String(client.options.keyPrefix ?? '');
    this.#resends = isCluster(client) || client.options.autoResendUnfulfilledCommands !== false;
  }

  async run(script: Script, { keys, args }: ScriptRun, call: Call): Promise<unknown> {
    if (this.client.status !== 'ready') await this.#whenReady();
    if (call.abandoned) throw new Error('given up before it was sent');
    if (!this.#known.has(script.sha)) return this.#eval(script, keys, args);
    try {
      return await this.#answered(this.client.evalsha(script.sha, keys.length, ...keys, ...args));
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
    return isCluster(this.client)
      ? new ShardSubscriber(this.client, events)
      : new PatternSubscriber(this.client, events);
  }

  async #eval(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const reply = await this.#answered(this.client.eval(script.source, keys.length, ...keys, ...args));
    this.#known.add(script.sha);
    return reply;
  }

  #answered<T>(reply: Promise<T>): Promise<T> {
    if (this.#resends) return reply;
    return new Promise<T>((resolve, reject) => {
      if (this.#unanswered.size === 0) this.client.once('close', this.#onClose);
      this.#unanswered.add(reject);
      const settle = (then: () => void) => {
        if (this.#unanswered.delete(reject) && this.#unanswered.size === 0) this.client.off('close', this.#onClose);
        then();
      };
      reply.then(
        (value) => settle(() => resolve(value)),
        (error: Error) => settle(() => reject(error)),
      );
    });
  }

  readonly #onClose = () => {
    for (const reject of this.#unanswered) reject(new Error('the connection broke before the answer came'));
    this.#unanswered.clear();
  };

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

function isCluster(client: Client): client is Cluster {
  return client.isCluster;
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
