import type { RedisPort } from '../../../libs/lock/src/stores/redis/port.js';
import type { ManualClock } from '../../../libs/lock/src/testing/manual-clock.js';
import { RedisServer, type Reply } from '../../../libs/lock/src/testing/simulation/redis-server.js';

const startedAt = 1_790_000_000_000_000;

/** The simulation's Redis on a clock that the test moves, without a network in between: the library's real Lua, at once. */
export class VirtualRedis {
  readonly server: RedisServer;
  readonly #subscribers = new Set<(channel: string, message: string) => void>();

  constructor(clock: ManualClock) {
    let nowMs = -1;
    let us = 0;
    // On a real one no two scripts run in the same microsecond; here time stands still between steps.
    this.server = new RedisServer(() => {
      us = clock.now() === nowMs ? us + 1 : 0;
      nowMs = clock.now();
      return startedAt + nowMs * 1000 + us;
    });
    this.server.onPublish = (channel, message) => {
      // A message comes over another connection: after the reply to whoever published it.
      for (const hear of this.#subscribers) queueMicrotask(() => hear(channel, message));
    };
  }

  port(onReply: (script: string, reply: Reply) => void = () => undefined): RedisPort {
    const run: RedisPort['run'] = async ({ name, source }, { keys, args }) => {
      const reply = this.server.eval(source, keys, args);
      onReply(name, reply);
      return reply;
    };
    return {
      cluster: false,
      prefix: '',
      run,
      runAll: (script, runs, call) => Promise.all(runs.map((each) => run(script, each, call))),
      openSubscriber: (events) => {
        const hear = (channel: string, message: string) => events.message(channel, message);
        return {
          subscribe: async () => void this.#subscribers.add(hear),
          unsubscribe: async () => void this.#subscribers.delete(hear),
          close: async () => void this.#subscribers.delete(hear),
        };
      },
    };
  }
}
