import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisPortStore } from '../../libs/lock/src/stores/redis/redis-store.js';
import { ManualClock } from '../../libs/lock/src/testing/manual-clock.js';
import { Chance } from '../../libs/lock/src/testing/simulation/chance.js';
import { redisServerMissing, startRedisServer, type RedisServer } from './support/redis-server.js';
import { TwinRedis } from './support/twin-redis.js';

// Times to live end at half a step, time passes in whole steps: nothing is ever close to its end.
const stepMs = 600_000;
const ttl = fc.constantFrom(0.5, 1.5, 2.5).map((steps) => steps * stepMs);
const keys = ['a', 'b', 'coupon:issue:42'];
const processes = ['p1', 'p2'];
const claimMs = stepMs / 2;

const key = fc.constantFrom(...keys);
const several = fc.subarray(keys, { minLength: 1 });
const token = fc.constantFrom(...Array.from({ length: 5 }, (_, index) => String(index).repeat(32)));
const process = fc.constantFrom(...processes);
const request = fc.record({ keys: several, token, ttlMs: ttl });

/** What the library can ask of a store, and what can happen to it. The first ones are what shrinking ends at. */
const step = fc.oneof(
  fc.record({
    verb: fc.constant('acquire' as const),
    keys: several,
    token,
    ttlMs: ttl,
    fences: fc.integer({ min: 1, max: 64 }),
  }),
  fc.record({ verb: fc.constant('release' as const), keys: several, token }),
  fc.record({
    verb: fc.constant('join' as const),
    process,
    key,
    token,
    ttlMs: ttl,
    priority: fc.integer({ min: 1, max: 10 }),
    maxWaiters: fc.constantFrom(0, 1, 3, 100),
  }),
  fc.record({ verb: fc.constant('leave' as const), process, key, token }),
  fc.record({ verb: fc.constant('renew' as const), requests: fc.array(request, { minLength: 1, maxLength: 3 }) }),
  fc.record({ verb: fc.constant('shorten' as const), request }),
  fc.record({
    verb: fc.constant('raise' as const),
    keys: several,
    token,
    above: fc.integer({ min: -5, max: 1_000_000 }),
  }),
  fc.record({ verb: fc.constant('inspect' as const), key }),
  fc.record({ verb: fc.constant('forceRelease' as const), key }),
  fc.record({ verb: fc.constant('pass' as const), us: fc.constantFrom(1, 2, 700, 900_000, 1, 2) }),
  fc.record({ verb: fc.constant('pass' as const), us: fc.constantFrom(stepMs * 1000, 2 * stepMs * 1000) }),
  fc.record({ verb: fc.constant('forget' as const), key, kind: fc.constantFrom('', 'queue:', 'fence:') }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Where Lua is not JavaScript. */
const expressions = [
  'tostring(1e15)',
  'tostring(123456789012345)',
  "1e14 .. ''",
  "0.1 .. ''",
  "string.format('%.0f', 9007199254740992)",
  "string.format('%d', 42.9)",
  "tonumber('0x10')",
  "tonumber(' 5 ')",
  "tonumber('5x')",
  "tonumber('')",
  "tonumber('-12')",
  '-1 % 3',
  '5 % -3',
  'math.floor(-0.5)',
  'math.max(1, 2.5)',
  'math.abs(-3)',
  "#'four'",
  "string.sub('hello', -3, -2)",
  "string.sub('hello', 1, 0)",
  "string.match('p1:0000', '^[^:]*:')",
  "string.match('p1:0000', ':(.*)$')",
  "string.match('p1', ':(.*)$')",
  "'10' + 5",
  "'10' == 10",
  'nil == false',
  "0 and 'zero is true'",
  "'' and 'empty is true'",
  "'a' < 'b'",
  "-'3'",
  "redis.call('GET', 'nothing') == false",
  "redis.call('EXISTS', 'nothing') == 0",
  "type(redis.call('PTTL', 'nothing'))",
  "type(redis.call('SET', 'x', 1))",
  "redis.call('SET', 'x', 1).ok",
  "type(redis.call('ZSCORE', 'nothing', 'x'))",
  "#redis.call('ZRANGE', 'nothing', 0, -1)",
];

describe.skipIf(redisServerMissing)('the Redis of the simulation, beside a real one', () => {
  let server: RedisServer;
  let twins: TwinRedis;

  beforeAll(async () => {
    server = await startRedisServer();
    twins = await TwinRedis.start(
      server.port,
      keys.map((each) => `lock:release:{${each}}`),
    );
  });

  afterAll(async () => {
    twins.close();
    await server.stop();
  });

  /** The library's own store for each process, so that names, arguments and their order are the library's. */
  const replay = async (cluster: boolean, steps: readonly Step[]) => {
    await twins.reset();
    const clock = new ManualClock();
    const random = new Chance(1);
    const stores = new Map(
      processes.map((processId) => {
        const factory = redisPortStore(twins.port(cluster), { claimMs, ageingMs: 1000 });
        return [processId, factory({ clock, random, processId })];
      }),
    );
    const store = stores.get('p1')!;
    const onLateGrant = () => undefined;
    const name = (kind: string, of: string) => `lock:${kind}${cluster ? `{${of}}` : of}`;
    const take = async (each: Step): Promise<unknown> => {
      switch (each.verb) {
        case 'acquire':
          return store.acquire({ ...each, onLateGrant });
        case 'release':
          return store.release(each.keys, each.token);
        case 'join':
          return stores.get(each.process)!.line!.join({ ...each, onLateGrant });
        case 'leave':
          return stores.get(each.process)!.line!.leave(each.key, each.token);
        case 'renew':
          return store.renew(each.requests, 1000);
        case 'shorten':
          return store.shorten(each.request);
        case 'raise':
          return store.raise(each.keys, each.token, twins.nowMs * 1000 + each.above);
        case 'inspect':
          return store.inspect(each.key);
        case 'forceRelease':
          return store.forceRelease(each.key);
        case 'pass':
          return twins.advance(each.us);
        default:
          return twins.command('DEL', name(each.kind, each.key));
      }
    };
    const granted: unknown[] = [];
    for (const each of steps) {
      const answer = await take(each);
      if ((answer as { granted?: boolean } | undefined)?.granted) granted.push(each.verb);
      await twins.compareKeys(JSON.stringify(each));
    }
    await twins.compareMessages();
    return granted;
  };

  it.each([{ cluster: false }, { cluster: true }])(
    'answers, holds and publishes the same after each of the commands of 200 random sequences (Cluster: $cluster)',
    async ({ cluster }) => {
      const grants: Record<string, number> = {};
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }), async (steps) => {
          for (const verb of await replay(cluster, steps)) grants[String(verb)] = (grants[String(verb)] ?? 0) + 1;
        }),
        { numRuns: 200 },
      );
      expect(Math.min(grants['acquire'] ?? 0, grants['join'] ?? 0), 'not exercised').toBeGreaterThan(100);
    },
    120_000,
  );

  it('takes the single commands as the real one does, also where they are refused', async () => {
    const name = fc.constantFrom('x', 'y');
    const word = fc.constantFrom('', '1', '-7', 'm', '00', '1.5', '1790000000000001');
    const whole = fc.integer({ min: -3, max: 3 });
    const command = fc.oneof(
      fc.tuple(fc.constantFrom('GET', 'DEL', 'EXISTS', 'INCR', 'PTTL', 'PERSIST', 'ZCARD', 'TYPE'), name),
      fc.tuple(fc.constant('SET'), name, word),
      fc.tuple(fc.constant('SET'), name, word, fc.constantFrom('NX', 'XX', 'KEEPTTL', 'nx', 'WRONG')),
      fc.tuple(fc.constant('SET'), name, word, fc.constant('PX'), fc.oneof(ttl, fc.constantFrom(0, -1))),
      fc.tuple(fc.constant('SET'), name, word, fc.constant('PX'), ttl, fc.constantFrom('NX', 'XX')),
      fc.tuple(fc.constantFrom('INCRBY'), name, fc.oneof(whole, word)),
      fc.tuple(fc.constant('PEXPIRE'), name, fc.oneof(ttl, fc.constantFrom(0, -1))),
      fc.tuple(fc.constant('ZADD'), name, whole, word),
      fc.tuple(fc.constant('ZADD'), name, fc.constant('NX'), whole, word),
      fc.tuple(fc.constant('ZADD'), name, whole, word, whole, word),
      fc.tuple(fc.constantFrom('ZREM', 'ZRANK', 'ZSCORE'), name, word),
      fc.tuple(fc.constant('ZCOUNT'), name, whole, whole),
      fc.tuple(fc.constant('ZRANGE'), name, whole, whole),
      fc.tuple(fc.constant('ZRANGE'), name, whole, whole, fc.constantFrom('WITHSCORES', 'WRONG')),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 40, size: 'max' }), async (commands) => {
        await twins.reset();
        for (const words of commands) {
          await twins.command(...(words as [string, ...(string | number)[]]));
          await twins.compareKeys(words.join(' '));
        }
      }),
      { numRuns: 200 },
    );
  }, 120_000);

  it.each(expressions)('reads %s as the real one does', async (expression) => {
    await twins.reset();
    const source = `local value = ${expression} return { type(value), tostring(value) }`;
    expect(await twins.eval(expression, source)).toHaveLength(2);
  });

  it('turns numbers into text, in all three ways, as the real one does', async () => {
    await twins.reset();
    const number = fc.oneof(
      fc.integer({ min: -(2 ** 31), max: 2 ** 31 }),
      fc.maxSafeInteger(),
      fc.integer({ min: -1_000_000, max: 1_000_000 }).map((thousandths) => thousandths / 1000),
    );
    await fc.assert(
      fc.asyncProperty(number, async (value) => {
        const source = `local n = tonumber(ARGV[1])
          redis.call('SET', KEYS[1], n)
          return { tostring(n), n .. '', string.format('%.0f', n), redis.call('GET', KEYS[1]) }`;
        await twins.eval('numbers', source, ['number'], [value]);
      }),
      { numRuns: 500 },
    );
  });

  it('tells the time in the same form, and counts on in the same unit', async () => {
    const form = `local time = redis.call('TIME')
      return { #time, type(time[1]), type(time[2]), #time[1], tonumber(time[2]) < 1000000 and 1 or 0 }`;
    await twins.reset();
    // Without the given time: each by its own clock.
    expect(await twins.ownTime(form)).toEqual({
      fake: [2, 'string', 'string', 10, 1],
      real: [2, 'string', 'string', 10, 1],
    });
  });
});
