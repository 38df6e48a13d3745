import type { StrategyName } from '../../options.js';
import type { Plan, StoreKind, Weather } from '../simulation/plan.js';

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

/** Fixed leases in one line, each of which works for nearly half of its TTL. */
function tight(plan: Plan): void {
  plan.handOver = { count: 64, ms: 5000 };
  for (const { kind, options, ...rest } of plan.operations) {
    if (kind === 'batch' || kind === 'nested') continue;
    Object.assign(options, { ttlMs: 1000, autoRenew: false, localLine: true });
    Object.assign(plan.operations[rest.id]!, { workMs: 400, extendMs: undefined });
  }
}

/** An operator takes the lock away in the middle. */
function forced(plan: Plan): void {
  plan.handOver.count = 1;
  const [first] = plan.operations.filter(({ kind }) => kind === 'acquire');
  if (first) first.kind = 'force';
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
        find: "if holder and (holder == ARGV[1] or ARGV[1] == '') then",
        replace: 'if holder then',
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
        find: 'if (this.#wakes === seen && sentAt < this.#lookAt)',
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
        find: 'for (const key of keys) {\n      const slot = this.#slot(key);\n      slot.token',
        replace: 'for (const slot of keys.map((key) => this.#slot(key))) {\n      slot.token',
      },
    ],
    stores: ['memory'],
  },
];
