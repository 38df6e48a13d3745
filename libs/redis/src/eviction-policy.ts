import { Cluster, type Redis } from 'ioredis';

/** The server would throw locks away when its memory is full. */
export class EvictionPolicyError extends Error {
  constructor(policy: string) {
    super(`Redis runs with maxmemory-policy ${policy}, which evicts live locks. Set it to noeviction and start again.`);
    this.name = 'EvictionPolicyError';
  }
}

/** Throws unless every primary runs with `noeviction`. INFO, since CONFIG is often forbidden. */
export async function checkEvictionPolicy(redis: Redis | Cluster): Promise<void> {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  await Promise.all(
    nodes.map(async (node) => {
      const policy = /^maxmemory_policy:(\S+)/m.exec(await node.info('memory'))?.[1];
      if (policy !== undefined && policy !== 'noeviction') throw new EvictionPolicyError(policy);
    }),
  );
}
