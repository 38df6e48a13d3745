import { Redis } from 'ioredis';
import type { RedisPort } from '../../../libs/lock/src/stores/redis/port.js';
import { RedisServer, type Reply } from '../../../libs/lock/src/testing/simulation/redis-server.js';
import { until } from './waiting.js';

/** A script's clock is part of its input here: both servers run it at the same microsecond. */
const givenTime = `local given = { ARGV[#ARGV - 1], ARGV[#ARGV] }
ARGV[#ARGV] = nil
ARGV[#ARGV] = nil
local redis = { call = function(name, ...)
  if name == 'TIME' then return given end
  return redis.call(name, ...)
end }
`;

/** What there is: name, type, value and the time left. */
const dump = `local out = {}
for i, key in ipairs(KEYS) do
  local type = redis.call('TYPE', key).ok
  local value
  if type == 'string' then value = redis.call('GET', key) else value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
  out[i] = { key, type, value, redis.call('PTTL', key) }
end
return out`;

const pass = `for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 and left <= tonumber(ARGV[1]) then redis.call('DEL', key)
  elseif left >= 0 then redis.call('PEXPIRE', key, left - tonumber(ARGV[1])) end
end`;

const startUs = 1_790_000_000_000_000;
const end = 'the end';

/**
 * The Redis of the simulation and a real one, given the same commands: what they answer, hold and publish must be the same.
 * Time passes when the test says so: on the real one all times to live are shortened. Meanwhile its own clock goes on, so a time
 * left may be less there, by what has really passed; times to live are minutes, so that nothing expires by that.
 */
export class TwinRedis {
  readonly #fake = new RedisServer(() => this.#timeUs);
  #timeUs = startUs;
  #resetAt = 0;
  #fakeHeard: string[] = [];
  #realHeard: string[] = [];

  private constructor(
    private readonly real: Redis,
    private readonly subscriber: Redis,
  ) {
    this.#fake.onPublish = (channel, message) => this.#fakeHeard.push(`${channel} ${message}`);
    const hear = (channel: string, message: string) => this.#realHeard.push(`${channel} ${message}`);
    subscriber.on('pmessage', (_pattern, channel: string, message: string) => hear(channel, message));
    subscriber.on('smessage', hear);
  }

  static async start(port: number, shardedChannels: readonly string[]): Promise<TwinRedis> {
    const subscriber = new Redis(port);
    const twins = new TwinRedis(new Redis({ port, protocol: 2 }), subscriber);
    await subscriber.psubscribe('*');
    for (const channel of shardedChannels) await subscriber.ssubscribe(channel);
    return twins;
  }

  close(): void {
    this.real.disconnect();
    this.subscriber.disconnect();
  }

  async reset(): Promise<void> {
    await this.real.flushall();
    this.#fake.wipe();
    this.#timeUs = startUs;
    this.#resetAt = performance.now();
    this.#fakeHeard = [];
    this.#realHeard = [];
  }

  get nowMs(): number {
    return Math.floor(this.#timeUs / 1000);
  }

  async advance(us: number): Promise<void> {
    const before = this.nowMs;
    this.#timeUs += us;
    if (this.nowMs > before) await this.real.eval(pass, 0, this.nowMs - before);
  }

  /** Both at once. A port, so that the library's own store names the keys and arguments. */
  port(cluster: boolean): RedisPort {
    const run: RedisPort['run'] = ({ name, source }, { keys, args }) => this.eval(name, source, keys, args);
    return {
      cluster,
      prefix: '',
      run,
      runAll: (script, runs, call) => Promise.all(runs.map((each) => run(script, each, call))),
      openSubscriber: () => {
        throw new Error('not here');
      },
    };
  }

  async eval(
    name: string,
    source: string,
    keys: readonly string[] = [],
    args: readonly (string | number)[] = [],
  ): Promise<Reply> {
    const time = [Math.floor(this.#timeUs / 1_000_000), this.#timeUs % 1_000_000];
    const fake = answerOf(() => this.#fake.eval(source, keys, args));
    const real = await this.#realAnswer(() =>
      this.real.eval(givenTime + source, keys.length, ...keys, ...args, ...time),
    );
    this.#compare(`${name} ${keys.join(' ')} | ${args.join(' ')}`, fake, real);
    return fake;
  }

  /** Each by its own clock. */
  async ownTime(source: string): Promise<{ fake: Reply; real: Reply }> {
    return { fake: this.#fake.eval(source, [], []), real: (await this.real.eval(source, 0)) as Reply };
  }

  /** A command as it is, without a script around it. */
  async command(...words: [string, ...(string | number)[]]): Promise<void> {
    const fake = answerOf(() => this.#fake.command(...words));
    this.#compare(words.join(' '), fake, await this.#realAnswer(() => this.real.call(...words)));
  }

  async compareKeys(after: string): Promise<void> {
    const names = this.#fake.keys().toSorted();
    this.#compare(`keys after ${after}`, names, (await this.real.keys('*')).toSorted());
    await this.eval(`what there is after ${after}`, dump, names);
  }

  async compareMessages(): Promise<void> {
    await this.real.publish(end, '');
    await until('the last message is heard', () => this.#realHeard.at(-1) === `${end} `);
    this.#compare('what was published', this.#fakeHeard, this.#realHeard.slice(0, -1));
  }

  async #realAnswer(ask: () => Promise<unknown>): Promise<Reply> {
    // A script's error ends with where it was raised.
    return ask().then(
      (reply) => reply as Reply,
      (error: Error) => `error: ${error.message.replace(/ script: .*$/s, '')}`,
    );
  }

  #compare(what: string, fake: Reply, real: Reply): void {
    if (alike(fake, real, performance.now() - this.#resetAt + 1)) return;
    throw new Error(`${what}\n  simulated: ${JSON.stringify(fake)}\n  real:      ${JSON.stringify(real)}`);
  }
}

function answerOf(ask: () => Reply): Reply {
  try {
    return ask();
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
}

/** Numbers of minutes and hours are times left: less on the real one, by no more than the time that has passed. */
function alike(fake: Reply, real: Reply, passedMs: number): boolean {
  if (Array.isArray(fake) && Array.isArray(real)) {
    return fake.length === real.length && fake.every((each, index) => alike(each, real[index]!, passedMs));
  }
  if (typeof fake === 'number' && typeof real === 'number' && fake >= 60_000 && fake <= 86_400_000) {
    return real <= fake && real >= fake - passedMs;
  }
  return fake === real;
}
