import { Redis } from 'ioredis';
import { freePort, startRedisServer, type RedisServer } from './redis-server.js';
import { sleep, until } from './waiting.js';

export interface RedisCluster {
  readonly nodes: RedisServer[];
  readonly ports: number[];
  /** The primary that owns the slot of this key name. */
  ownerOf(name: string): Promise<RedisServer>;
  stop(): Promise<void>;
}

const slots = 16_384;

/** Three primaries with a replica each. */
export async function startCluster(nodeTimeoutMs: number): Promise<RedisCluster> {
  const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(nodeTimeoutMs)];
  // A replica may take over at once, however long ago it last heard.
  const start = async () => {
    // Its default bus port is 10000 above the other, which may be above 65535.
    const bus = await freePort();
    const more = ['--cluster-port', String(bus), '--cluster-replica-validity-factor', '0'];
    return { bus, server: await startRedisServer([...settings, ...more]) };
  };
  const started = await Promise.all(Array.from({ length: 6 }, start));
  const nodes = started.map(({ server }) => server);
  const clients = nodes.map(({ port }) => new Redis(port, { maxRetriesPerRequest: null }));
  const ask = (index: number, ...args: (string | number)[]) => clients[index]!.call(...(args as [string, ...string[]]));
  await Promise.all(
    [0, 1, 2].map((index) =>
      ask(index, 'CLUSTER', 'ADDSLOTSRANGE', Math.ceil((slots * index) / 3), Math.ceil((slots * (index + 1)) / 3) - 1),
    ),
  );
  for (let index = 1; index < 6; index += 1)
    await ask(index, 'CLUSTER', 'MEET', '127.0.0.1', nodes[0]!.port, started[0]!.bus);
  for (let index = 0; index < 6; index += 1) {
    await until('all nodes have met', async () =>
      String(await ask(index, 'CLUSTER', 'INFO')).includes('known_nodes:6'),
    );
  }
  const ids = await Promise.all([0, 1, 2].map(async (index) => String(await ask(index, 'CLUSTER', 'MYID'))));
  for (let index = 3; index < 6; index += 1) await ask(index, 'CLUSTER', 'REPLICATE', ids[index - 3]!);
  for (let index = 0; index < 6; index += 1) {
    await until('the cluster is whole', async () => {
      const known = String(await ask(index, 'CLUSTER', 'NODES'));
      const replicas = known.split('\n').filter((line) => line.includes('slave') && line.includes('connected'));
      return String(await ask(index, 'CLUSTER', 'INFO')).includes('cluster_state:ok') && replicas.length === 3;
    });
  }
  for (let index = 3; index < 6; index += 1) {
    await until('the replica follows', async () =>
      String(await ask(index, 'INFO', 'replication')).includes('link_status:up'),
    );
  }
  for (const client of clients) client.disconnect();
  // A failover needs the primaries to have seen each replica's offset.
  await sleep(nodeTimeoutMs / 4);
  return {
    nodes,
    ports: nodes.map(({ port }) => port),
    ownerOf: async (name) => {
      const redis = new Redis(
        nodes.find((node) => node.process.exitCode === null && node.process.signalCode === null)!.port,
      );
      const slot = Number(await redis.cluster('KEYSLOT', name));
      const ranges = (await redis.cluster('SLOTS')) as unknown as [number, number, [string, number]][];
      redis.disconnect();
      const [, , [, port]] = ranges.find(([from, to]) => from <= slot && slot <= to)!;
      return nodes.find((node) => node.port === port)!;
    },
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}
