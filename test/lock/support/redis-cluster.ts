import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { freePort, startRedisServer, type RedisServer } from './redis-server.js';

export interface RedisCluster {
  readonly servers: readonly RedisServer[];
  readonly nodes: { host: string; port: number }[];
  /** The master that owns the slot of the name. */
  ownerOf(name: string): Promise<RedisServer>;
  stop(): Promise<void>;
}

const slots = 16_384;

/** Masters, and as many replicas, without redis-cli: the slots are given by CLUSTER ADDSLOTSRANGE. */
export async function startRedisCluster({
  masters = 3,
  replicas = false,
  nodeTimeoutMs = 2000,
} = {}): Promise<RedisCluster> {
  const count = replicas ? masters * 2 : masters;
  const folder = await mkdtemp(join(tmpdir(), 'firstcome-cluster-'));
  const servers: RedisServer[] = [];
  for (let index = 0; index < count; index += 1) {
    const settings = [
      '--cluster-enabled',
      'yes',
      '--cluster-config-file',
      join(folder, `${index}.conf`),
      '--dir',
      folder,
    ];
    const timing = ['--cluster-node-timeout', String(nodeTimeoutMs), '--cluster-require-full-coverage', 'no'];
    servers.push(await startRedisServer([...settings, ...timing, '--cluster-port', String(await freePort())]));
  }
  const clients = servers.map(({ port }) => new Redis(port));
  const [first] = clients;
  if (!first) throw new Error('a cluster has nodes');
  for (const [index, client] of clients.slice(0, masters).entries()) {
    const from = Math.floor((index * slots) / masters);
    const to = Math.floor(((index + 1) * slots) / masters) - 1;
    await client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
  }
  const busPorts = await Promise.all(
    clients.map(async (client) => String(((await client.config('GET', 'cluster-port')) as string[])[1])),
  );
  for (const [index, { port }] of servers.entries()) {
    if (index > 0) await first.call('CLUSTER', 'MEET', '127.0.0.1', String(port), busPorts[index] ?? '');
  }
  const until = async (reached: () => Promise<boolean>) => {
    while (!(await reached())) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const info = async (client: Redis) => String(await client.call('CLUSTER', 'INFO'));
  await until(async () =>
    (await Promise.all(clients.map(info))).every((text) => text.includes(`known_nodes:${count}`)),
  );
  for (const [index, client] of clients.slice(masters).entries()) {
    const id = String(await clients[index]?.call('CLUSTER', 'MYID'));
    await client.call('CLUSTER', 'REPLICATE', id);
  }
  await until(async () => (await Promise.all(clients.map(info))).every((text) => text.includes('cluster_state:ok')));
  if (replicas) {
    await until(async () =>
      (await Promise.all(clients.slice(masters).map((client) => client.info('replication')))).every((text) =>
        text.includes('master_link_status:up'),
      ),
    );
  }
  for (const client of clients) client.disconnect();
  return {
    servers,
    nodes: servers.map(({ port }) => ({ host: '127.0.0.1', port })),
    ownerOf: async (name) => {
      const asked = servers.find(({ process }) => process.exitCode === null);
      const cluster = new Cluster([{ host: '127.0.0.1', port: asked?.port ?? 0 }]);
      const slot = await cluster.cluster('KEYSLOT', name);
      const home = cluster.slots[slot]?.[0];
      cluster.disconnect();
      const owner = servers.find(({ port }) => home === `127.0.0.1:${port}`);
      if (!owner) throw new Error(`nobody owns the slot of ${name}`);
      return owner;
    },
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
