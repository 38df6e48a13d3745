import { Cluster, Redis, type RedisOptions as ClientOptions } from 'ioredis';

/** One server by URL, a Cluster by some of its nodes, or a primary by name through Sentinels; nodes as `host:port`. */
export type RedisTarget =
  | { url: string; cluster?: undefined; sentinels?: undefined; name?: undefined }
  | { url?: undefined; cluster: string[]; sentinels?: undefined; name?: undefined }
  | { url?: undefined; cluster?: undefined; sentinels: string[]; name: string };

export type RedisOptions = RedisTarget & { connectionName?: string; username?: string; password?: string };

const RETRY_CAP_MS = 500;
const CONNECT_TIMEOUT_MS = 1_000;
const COMMAND_TIMEOUT_MS = 1_000;
const SOCKET_TIMEOUT_MS = 3_000;
const DISCONNECT_TIMEOUT_MS = 100;

/** Full jitter below 500 ms: the default cap of 5 s would delay every recovery, and no jitter lets all come at once. */
export function retryDelayMs(attempt: number): number {
  return Math.random() * Math.min(RETRY_CAP_MS, 25 * 2 ** Math.min(attempt, 10));
}

/** A client that never waits for ever: a command fails by its deadline, and the connection is tried again for good. */
export function createRedis(options: RedisOptions): Redis | Cluster {
  const client = connect(options);
  // Each failed attempt to connect is an event; without a listener it would be printed, once per attempt.
  client.on('error', () => undefined);
  return client;
}

function connect(options: RedisOptions): Redis | Cluster {
  const { url, cluster, sentinels, name, connectionName, username, password } = options;
  const settings: ClientOptions = {
    ...(connectionName === undefined ? {} : { connectionName }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Not "not executed": only "no answer in time".
    commandTimeout: COMMAND_TIMEOUT_MS,
    // A connection whose server hangs is given up, so that a failover is noticed; a quiet one is not.
    socketTimeout: SOCKET_TIMEOUT_MS,
    // A connection that was given up is not waited for: a server that hangs does not answer to that either, and by default
    // every failover away from one takes 2 s longer.
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    // How often a command is sent again after a lost connection; commands here are safe to repeat.
    maxRetriesPerRequest: 1,
    retryStrategy: retryDelayMs,
  };
  if (cluster) {
    return new Cluster(cluster.map(hostPort), {
      redisOptions: settings,
      clusterRetryStrategy: retryDelayMs,
      slotsRefreshTimeout: 2_000,
      slotsRefreshInterval: 5_000,
      retryDelayOnFailover: 100,
      retryDelayOnClusterDown: 100,
      retryDelayOnTryAgain: 100,
      maxRedirections: 16,
    });
  }
  if (sentinels) {
    return new Redis({
      ...settings,
      sentinels: sentinels.map(hostPort),
      name,
      sentinelRetryStrategy: retryDelayMs,
      sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
      failoverDetector: true,
    });
  }
  return new Redis(url, settings);
}

/** `10.0.0.1:6379`, or `[::1]:6379`. */
function hostPort(node: string): { host: string; port: number } {
  const { hostname, port } = new URL(`redis://${node}`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 6379) };
}
