import { Cluster, type Redis } from 'ioredis';

/** The names of the keys that match, on one server or on all primaries of a Cluster. A key may come twice. */
export async function* scanKeys(redis: Redis | Cluster, match: string): AsyncGenerator<string> {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  for (const node of nodes) {
    const found: AsyncIterable<string[]> = node.scanStream({ match, count: 1000 });
    for await (const names of found) yield* names;
  }
}
