import { Cluster, Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createRedis, retryDelayMs } from './create-redis.js';

const offline = <Client extends Redis | Cluster>(client: Client): Client => {
  client.disconnect();
  return client;
};

describe('createRedis', () => {
  it('never waits longer than half a second between attempts, and not always as long', () => {
    const delays = Array.from({ length: 2000 }, (_, attempt) => retryDelayMs(attempt));
    expect(Math.max(...delays)).toBeLessThanOrEqual(500);
    expect(Math.min(...delays.slice(100))).toBeLessThan(250);
  });

  it('takes a URL, with the deadlines that keep a command from waiting for ever', () => {
    const client = offline(createRedis({ url: 'redis://127.0.0.1:1/3' }) as Redis);
    expect(client.options).toMatchObject({ host: '127.0.0.1', port: 1, db: 3, retryStrategy: retryDelayMs });
    expect(client.options.commandTimeout).toBeLessThanOrEqual(1000);
    expect(client.options.socketTimeout).toBeDefined();
  });

  it.each([
    createRedis({ url: 'redis://127.0.0.1:1' }),
    createRedis({ sentinels: ['127.0.0.1:1'], name: 'main' }),
    createRedis({ cluster: ['127.0.0.1:1'] }),
  ])('does not wait for a server that hangs to agree that it is given up (%#)', (client) => {
    offline(client);
    const { disconnectTimeout } = client instanceof Cluster ? client.options.redisOptions! : client.options;
    expect(disconnectTimeout).toBeLessThanOrEqual(100);
  });

  it('finds a primary through Sentinels, and looks itself whether it is still one', () => {
    const client = offline(createRedis({ sentinels: ['127.0.0.1:1', '[::1]:2'], name: 'main' }) as Redis);
    expect(client.options).toMatchObject({
      sentinels: [
        { host: '127.0.0.1', port: 1 },
        { host: '::1', port: 2 },
      ],
      name: 'main',
      failoverDetector: true,
    });
  });

  it('takes a Cluster by some of its nodes', () => {
    const client = offline(createRedis({ cluster: ['127.0.0.1:1', '127.0.0.1:2'] }));
    expect(client).toBeInstanceOf(Cluster);
  });
});
