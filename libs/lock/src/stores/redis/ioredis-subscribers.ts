import type { Cluster, Redis, RedisOptions } from 'ioredis';
import type { RedisSubscriber, SubscriberEvents } from './port.js';
import { slotOf } from './slots.js';

/** The user's settings are made for commands. Where the server is, and who we are, is all that is taken over. */
const settings: RedisOptions = {
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
  monitor: false,
  readOnly: false,
  protocol: 2,
  // Sentinel: a primary that hangs closes nothing, and its subscribers would hear nothing for as long. Given up, it is not
  // waited for; by default it would be for 2 s.
  failoverDetector: true,
  disconnectTimeout: 100,
  connectionName: 'firstcome-lock-subscriber',
  // The default back-off grows to 5 s, and every waiter would hear nothing for as long.
  retryStrategy: (times) => Math.min(times * 50, 500),
};

function open(client: Redis, overrides: RedisOptions = {}): Redis {
  const redis = client.duplicate<RedisOptions>({ ...settings, ...overrides });
  // A connection that fails is tried again; whoever needs to know sees it as a late acknowledgement.
  redis.on('error', () => undefined);
  return redis;
}

/** The release channels of a single node, or of the master that Sentinel names: one pattern on one connection. */
export class PatternSubscriber implements RedisSubscriber {
  readonly #redis: Redis;
  readonly #names = new Set<string>();

  constructor(client: Redis, events: SubscriberEvents) {
    this.#redis = open(client);
    this.#redis.on('pmessage', (_pattern: string, channel: string, message: string) =>
      events.message(channel, message),
    );
    this.#redis.on('close', () => {
      const names = [...this.#names];
      this.#names.clear();
      for (const name of names) events.lost(name);
    });
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

/**
 * Sharded channels of a Cluster: one connection to each node that owns a slot somebody listens to. ioredis has a group of
 * sharded subscribers of its own, but subscribes again without telling when that is acknowledged.
 */
export class ShardSubscriber implements RedisSubscriber {
  readonly #nodes = new Map<string, { redis: Redis; names: Set<string> }>();

  constructor(
    private readonly cluster: Cluster,
    private readonly events: SubscriberEvents,
  ) {}

  async subscribe(name: string): Promise<void> {
    const home = this.cluster.slots[slotOf(name)]?.[0];
    if (home === undefined) throw new Error('the owner of the slot is not known yet');
    const node = this.#node(home);
    try {
      await node.redis.ssubscribe(name);
      node.names.add(name);
    } catch (error) {
      // MOVED, or the node is gone: the next try asks whoever owns the slot then.
      this.cluster.refreshSlotsCache();
      throw error;
    }
  }

  async unsubscribe(name: string): Promise<void> {
    for (const { redis, names } of this.#nodes.values()) if (names.delete(name)) await redis.sunsubscribe(name);
  }

  async close(): Promise<void> {
    for (const { redis, names } of this.#nodes.values()) {
      names.clear();
      redis.disconnect();
    }
    this.#nodes.clear();
  }

  #node(home: string) {
    const known = this.#nodes.get(home);
    if (known) return known;
    const member = this.cluster.nodes('master').find(({ options }) => `${options.host}:${options.port}` === home);
    if (!member) throw new Error(`no connection to ${home}`);
    // Not reconnected: by then the slots may have another owner.
    const redis = open(member, { retryStrategy: () => null });
    const node = { redis, names: new Set<string>() };
    this.#nodes.set(home, node);
    redis.on('smessage', (channel: string, message: string) => this.events.message(channel, message));
    const gone = () => {
      if (this.#nodes.get(home) !== node) return;
      this.#nodes.delete(home);
      redis.disconnect();
      this.cluster.refreshSlotsCache();
      for (const name of node.names) this.events.lost(name);
    };
    redis.on('close', gone);
    // A slot has left the node, and its channels with it.
    redis.on('moved', gone);
    redis.connect().catch(() => undefined);
    return node;
  }
}
