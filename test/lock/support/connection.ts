import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { createLocks, noneStore, redisStore, redlockStore, type Locks, type LocksOptions } from '@firstcome/lock';

/** How a process of a spec reaches its locks; plain data, because it travels to child processes. */
export interface Connection {
  port?: number;
  sentinels?: number[];
  cluster?: number[];
  /** Independent servers, of which a majority decides. */
  redlock?: { ports: number[]; maxTtlMs: number };
  /** The negative control: every request is granted. */
  excludesNobody?: boolean;
  redis?: RedisOptions;
  /** Every call to Redis ends by this. */
  callTimeoutMs?: number;
  locks?: Omit<LocksOptions, 'store' | 'clock' | 'random' | 'onEvent'>;
}

export interface Connected {
  clients: (Redis | Cluster)[];
  locks: Locks;
  close(): Promise<void>;
}

// The settings an application should have: retried soon, for ever.
const settings: RedisOptions = {
  retryStrategy: (times) => Math.min(times * 50, 500),
  maxRetriesPerRequest: null,
  // By default a connection that was given up waits 2 s for a hung server to agree: 2 s more of every such failover.
  disconnectTimeout: 100,
};

export function connectRedis({ port, sentinels, cluster, redis }: Connection): Redis | Cluster {
  const client = cluster
    ? new Cluster(
        cluster.map((node) => ({ host: '127.0.0.1', port: node })),
        {
          redisOptions: { ...settings, ...redis },
          clusterRetryStrategy: () => 100,
          slotsRefreshInterval: 1000,
          slotsRefreshTimeout: 500,
        },
      )
    : sentinels
      ? new Redis({
          ...settings,
          sentinels: sentinels.map((sentinel) => ({ host: '127.0.0.1', port: sentinel })),
          name: 'firstcome',
          sentinelRetryStrategy: () => 100,
          failoverDetector: true,
          ...redis,
        })
      : new Redis({ port, ...settings, ...redis });
  // Every spec breaks its connections on purpose.
  client.on('error', () => undefined);
  return client;
}

export function connect(connection: Connection, onEvent?: LocksOptions['onEvent']): Connected {
  const { redlock, callTimeoutMs } = connection;
  const clients = redlock
    ? redlock.ports.map((port) => connectRedis({ ...connection, port }))
    : [connectRedis(connection)];
  const store = redlock
    ? redlockStore(clients as Redis[], { maxTtlMs: redlock.maxTtlMs, nodeTimeoutMs: callTimeoutMs })
    : connection.excludesNobody
      ? noneStore()
      : redisStore(clients[0]!, { callTimeoutMs });
  const locks = createLocks({ store, onEvent, ...connection.locks });
  return {
    clients,
    locks,
    close: async () => {
      await locks.close();
      for (const client of clients) client.disconnect();
    },
  };
}
