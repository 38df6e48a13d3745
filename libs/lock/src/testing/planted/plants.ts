import type { StrategyName } from '../../options.js';
import type { Plan, StoreKind, Weather } from '../simulation/plan.js';
import { chained, extended, forced, shortened, tight } from './bends.js';

/** One classic mistake, as the change of a few lines that would make it. */
export interface Plant {
  mistake: string;
  law: number;
  edits: { file: string; find: string; replace: string }[];
  stores?: readonly StoreKind[];
  strategies?: readonly StrategyName[];
  weather?: Weather;
  /** Bends the plans towards where the mistake matters. */
  adjust?: (plan: Plan) => void;
}

const redis = ['redis'] as const;
const pubsub = ['pubsub'] as const;
const lua = 'stores/redis/scripts';

/** Most of them were found in public libraries: MISTAKES. */
export const plants: readonly Plant[] = [
  {
    mistake: 'the release does not compare the token',
    law: 3,
    edits: [
      {
        file: `${lua}/release.lua`,
        find: "if redis.call('GET', KEYS[i]) == ARGV[1] then",
        replace: "if redis.call('GET', KEYS[i]) then",
      },
    ],
    stores: redis,
  },
  {
    mistake: 'the renewal does not compare the token',
    law: 3,
    edits: [
      {
        file: `${lua}/renew.lua`,
        find: "if redis.call('GET', KEYS[i]) == ARGV[2 * i - 1] then",
        replace: "if redis.call('GET', KEYS[i]) then",
      },
    ],
    stores: redis,
  },
  {
    mistake: 'the renewal creates a lock that is gone',
    law: 5,
    edits: [
      {
        file: `${lua}/renew.lua`,
        find: 'renewed[i] = 0',
        replace: "redis.call('SET', KEYS[i], ARGV[2 * i - 1], 'PX', ARGV[2 * i])\n    renewed[i] = 1",
      },
    ],
    stores: redis,
  },
  {
    mistake: 'the fence is drawn before the lock is taken',
    law: 2,
    edits: [
      {
        file: 'stores/redis/redis-store.ts',
        find: 'const reply = await this.#run(scripts.acquire',
        replace:
          "const early = (await this.inspect(request.keys[0] ?? '')).fence + 1;\n    const reply = await this.#run(scripts.acquire",
      },
      {
        file: 'stores/redis/redis-store.ts',
        find: '{ granted: true, fence: value }',
        replace: '{ granted: true, fence: early }',
      },
    ],
    stores: redis,
    strategies: pubsub,
  },
  {
    mistake: 'the fence is a plain counter and falls when Redis forgets',
    law: 2,
    edits: [
      {
        file: `${lua}/draw-fences.lua`,
        find: 'local fence = tonumber(time[1]) * 1000000 + tonumber(time[2])',
        replace: 'local fence = 0',
      },
    ],
    stores: redis,
  },
  {
    mistake: 'the deadline counts from the reply instead of from the request',
    law: 6,
    edits: [
      {
        file: 'hold.ts',
        find: 'this.#deadline = sentAt + options.ttlMs - marginMs(options.ttlMs);',
        replace: 'this.#deadline = clock.now() + options.ttlMs - marginMs(options.ttlMs);',
      },
    ],
    stores: redis,
  },
  {
    mistake: 'nobody looks again once the subscription is acknowledged',
    law: 11,
    edits: [{ file: 'stores/redis/wakeups.ts', find: 'subscription.onLive();', replace: '' }],
    stores: redis,
    strategies: pubsub,
  },
  {
    mistake: 'a subscription that broke is not made again',
    law: 11,
    edits: [
      {
        file: 'stores/redis/wakeups.ts',
        find: 'subscription.live = false;\n    void this.#keep(subscription);',
        replace: 'subscription.live = false;',
      },
      // And whoever relies on news alone waits for ever.
      {
        file: 'strategies/pubsub.ts',
        find: 'remainingMs >= 0 ? Math.min(recheckMs, remainingMs + 1) : recheckMs',
        replace: 'remainingMs * 0 + recheckMs * 0 + 86_400_000',
      },
    ],
    stores: redis,
    strategies: pubsub,
  },
  {
    mistake: 'a release that is published while a look is under way is missed',
    law: 11,
    edits: [
      {
        file: 'contest.ts',
        find: 'if ((this.#wakes === seen || sentAt < this.#deafUntil) && sentAt < this.#lookAt)',
        replace: 'if (sentAt < this.#lookAt)',
      },
    ],
    stores: redis,
    strategies: pubsub,
    weather: 'calm',
  },
  {
    mistake: 'nobody looks when the time of a holder that died runs out',
    law: 11,
    edits: [
      {
        file: 'strategies/pubsub.ts',
        find: 'remainingMs >= 0 ? Math.min(recheckMs, remainingMs + 1) : recheckMs',
        replace: 'remainingMs * 0 + recheckMs * 0 + 86_400_000',
      },
    ],
    stores: redis,
    strategies: pubsub,
  },
  {
    mistake: 'a lock that was handed to a waiter who left is not passed on',
    law: 10,
    edits: [{ file: `${lua}/queue-leave.lua`, find: 'hand_on(1, 2, 3, ARGV[3], ARGV[4], ARGV[5])', replace: '' }],
    stores: redis,
    strategies: ['queue'],
    weather: 'calm',
  },
  {
    mistake: 'a lock that was handed over and is never claimed does not expire',
    law: 10,
    edits: [{ file: `${lua}/hand-on.lua`, find: ", 'PX', claim_ms)", replace: ')' }],
    stores: redis,
    strategies: ['queue'],
  },
  {
    mistake: 'what an abandoned attempt may have taken is not given back',
    law: 10,
    edits: [
      { file: 'contest.ts', find: 'if (!this.#hold && (this.#unsure || this.#linedUp)) this.#leave();', replace: '' },
      { file: 'contest.ts', find: 'if (!this.#over) this.rouse();', replace: 'if (this.#over) return;' },
    ],
    stores: redis,
  },
  {
    mistake: 'a grant that comes when nobody waits any more is kept',
    law: 10,
    edits: [{ file: 'contest.ts', find: 'await this.#giveBack();', replace: '' }],
    stores: redis,
    strategies: pubsub,
    weather: 'calm',
  },
  {
    mistake: 'a lock is busy for the very token that has it',
    law: 8,
    edits: [{ file: `${lua}/acquire.lua`, find: 'if holder and holder ~= ARGV[1] then', replace: 'if holder then' }],
    stores: redis,
  },
  {
    mistake: 'the hand-over ignores what is left of the lease',
    law: 6,
    edits: [{ file: 'line.ts', find: 'hold.remainingMs >= hold.options.ttlMs / 2', replace: 'true' }],
    stores: redis,
    strategies: pubsub,
    weather: 'calm',
    adjust: tight,
  },
  {
    mistake: 'the watchdog outlives the release',
    law: 5,
    edits: [
      {
        file: 'line.ts',
        find: 'hold.end();\n    this.parts.watchdog.forget(hold);\n    this.#hold = undefined;',
        replace: 'this.#hold = undefined;',
      },
    ],
    stores: redis,
    weather: 'calm',
  },
  {
    mistake: 'of several keys those that were free are kept by a refused attempt',
    law: 10,
    edits: [
      {
        file: `${lua}/acquire.lua`,
        find: '    busy = true\n',
        replace:
          "    busy = true\n  else\n    redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2])\n  end\n  if holder and holder ~= ARGV[1] then\n",
      },
    ],
    stores: redis,
    strategies: pubsub,
    weather: 'calm',
  },
  {
    mistake: 'the listener of a signal is never removed',
    law: 10,
    edits: [
      {
        file: 'waiter.ts',
        find: "if (this.#onAbort) this.options.signal?.removeEventListener('abort', this.#onAbort);",
        replace: '',
      },
    ],
    stores: redis,
    weather: 'calm',
  },
  {
    mistake: 'half of the nodes are taken for a majority',
    law: 16,
    edits: [{ file: 'stores/redlock/quorum.ts', find: 'Math.floor(nodes / 2) + 1', replace: 'Math.floor(nodes / 2)' }],
    stores: ['redlock'],
  },
  {
    mistake: 'a failed attempt leaves its votes on the nodes',
    law: 16,
    edits: [{ file: 'stores/redlock/redlock-store.ts', find: 'await this.#giveBack(request);', replace: '' }],
    stores: ['redlock'],
    weather: 'calm',
  },
  // From here on: what this simulation found in this library.
  {
    mistake: 'a single attempt is busy behind a look that everybody has given up',
    law: 9,
    edits: [
      {
        file: 'line.ts',
        find: 'if (waiter.once && (this.#hold || this.#waiting.size > 0)) {',
        replace: 'if (waiter.once && this.inUse) {',
      },
    ],
    stores: redis,
  },
  {
    mistake: 'a release that found the lock gone leaves the waiters asleep',
    law: 11,
    edits: [{ file: 'line.ts', find: "if (outcome !== 'released') this.#contest?.rouse();", replace: '' }],
    stores: redis,
    strategies: pubsub,
    weather: 'calm',
    adjust: forced,
  },
  {
    mistake: 'a token whose votes were given back is used again, and a late release takes the new lock away',
    law: 1,
    edits: [
      {
        file: 'contest.ts',
        find: '#renewToken(): void {',
        replace: '#renewToken(): void {\n    if (this.#token) return;',
      },
    ],
    stores: ['redlock'],
  },
  {
    mistake: "who contends for a majority follows the news of everybody's give-backs",
    law: 11,
    edits: [
      {
        file: 'contest.ts',
        find: 'this.#deafUntil = this.parts.clock.now() + answer.settleMs;',
        replace: '',
      },
    ],
    stores: ['redlock'],
  },
  {
    mistake: 'a renewal that is done late takes off time that was given since',
    law: 1,
    edits: [
      {
        file: `${lua}/renew.lua`,
        find: "if redis.call('PTTL', KEYS[i]) < tonumber(ARGV[2 * i]) then",
        replace: 'if KEYS[i] then',
      },
    ],
    stores: ['redis', 'cluster'],
    strategies: pubsub,
  },
  {
    mistake: 'a holder believes in the time that it takes off its lease until the store has answered',
    law: 6,
    edits: [
      { file: 'line.ts', find: '      hold.shorten(sentAt, ms);\n', replace: '' },
      {
        file: 'line.ts',
        find: 'hold.renewed(sentAt, ms, shortenings);',
        replace: 'if (shorter) hold.shorten(sentAt, ms);\n      hold.renewed(sentAt, ms, shortenings);',
      },
    ],
    stores: redis,
    adjust: shortened,
  },
  {
    mistake: 'an acquire that is done late takes off time that was given since',
    law: 1,
    edits: [
      {
        file: `${lua}/acquire.lua`,
        find: "if not redis.call('SET', KEYS[i], ARGV[1], 'NX', 'PX', ARGV[2]) and",
        replace: "redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2])\n  if not KEYS[i] and",
      },
    ],
    stores: redis,
    adjust: extended,
  },
  {
    mistake: 'a forced release takes the lock from whoever has it by then, not from whom the operator saw',
    law: 8,
    edits: [
      {
        file: `${lua}/release.lua`,
        find: "if redis.call('GET', KEYS[i]) == ARGV[1] then",
        replace: "if redis.call('GET', KEYS[i]) and (redis.call('GET', KEYS[i]) == ARGV[1] or ARGV[1] == '') then",
      },
      {
        file: 'stores/redis/redis-store.ts',
        find: 'const { token } = await this.inspect(key);\n    return token !== undefined && (await this.#release([key], token)) > 0;',
        replace: "return (await this.#release([key], '')) > 0;",
      },
    ],
    stores: redis,
    adjust: forced,
  },
  {
    mistake: 'a release is sent before the next of the process listens for it',
    law: 11,
    edits: [
      {
        file: 'line.ts',
        find: 'if (this.#waiting.size > 0) this.#contend(true);\n    const releasing = this.parts.store.release(keys, hold.token);',
        replace:
          'const releasing = this.parts.store.release(keys, hold.token);\n    if (this.#waiting.size > 0) this.#contend(true);',
      },
    ],
    stores: ['memory'],
    weather: 'calm',
  },
  {
    mistake: "whoever takes over looking out for a queue does not know when the holder's time runs out",
    law: 11,
    edits: [
      {
        file: 'contest.ts',
        find: 'Math.min(now + head.options.recheckMs, holderUntil, planned)',
        replace: 'now + head.options.recheckMs',
      },
    ],
    stores: redis,
    strategies: ['queue'],
    adjust: chained,
  },
  {
    mistake: 'the line of a killed process stands for ever',
    law: 10,
    edits: [{ file: `${lua}/queue-join.lua`, find: "redis.call('PEXPIRE', line, 86400000)", replace: '' }],
    stores: redis,
    strategies: ['queue'],
  },
  {
    mistake: 'taking several keys in memory forgets one of them while it makes the next',
    law: 1,
    edits: [
      {
        file: 'stores/memory.ts',
        find: 'for (const key of keys) {\n      const slot = this.#slot(key);\n      const until',
        replace: 'for (const slot of keys.map((key) => this.#slot(key))) {\n      const until',
      },
    ],
    stores: ['memory'],
  },
];
