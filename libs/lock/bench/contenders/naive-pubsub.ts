// The pub/sub lock of the textbooks, to measure against. NOT TO BE COPIED: nothing renews it, so a body longer than the TTL runs
// beside the next holder; it has no fence; everybody looks after every release; a release whose answer is lost throws over
// the body's result; and a wait that is given up leaves its subscription.
import { randomUUID } from 'node:crypto';
import { connect, ttlMs, type Open } from './contender.js';

const release = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], '')
return 1`;

/** Where no message comes (the holder died): look again. */
const recheckMs = 1000;

interface Ear {
  heard: boolean;
  wake: () => void;
}

export const naivePubsub: Open = async (port) => {
  const redis = await connect(port);
  const subscriber = await connect(port);
  const ears = new Map<string, Set<Ear>>();
  subscriber.on('message', (channel: string) => {
    for (const ear of ears.get(channel) ?? []) {
      ear.heard = true;
      ear.wake();
    }
  });

  const listen = async (channel: string): Promise<Ear> => {
    const ear: Ear = { heard: false, wake: () => undefined };
    ears.set(channel, (ears.get(channel) ?? new Set<Ear>()).add(ear));
    await subscriber.subscribe(channel);
    return ear;
  };
  const leave = async (channel: string, ear: Ear): Promise<void> => {
    const all = ears.get(channel);
    all?.delete(ear);
    // One connection for all: the last to go turns the light off, or the others would hear nothing.
    if (all?.size !== 0) return;
    ears.delete(channel);
    await subscriber.unsubscribe(channel);
  };
  const silence = (ear: Ear) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, recheckMs);
      ear.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  return {
    withLock: async (key, body) => {
      const token = randomUUID();
      const channel = `${key}:released`;
      const take = async () => (await redis.set(key, token, 'PX', ttlMs, 'NX')) === 'OK';
      if (!(await take())) {
        const ear = await listen(channel);
        while (!(await take())) {
          // What was said while it looked counts.
          if (!ear.heard) await silence(ear);
          ear.heard = false;
        }
        await leave(channel, ear);
      }
      try {
        await body();
      } finally {
        await redis.eval(release, 1, key, token, channel);
      }
    },
    close: async () => {
      redis.disconnect();
      subscriber.disconnect();
      for (const all of ears.values()) for (const ear of all) ear.wake();
    },
  };
};
