import { compileLua, type CompiledScript } from './lua/compile.js';
import { LuaError, Table, textOfNumber, type Value } from './lua/values.js';

type Stored = { expireAt: number } & (
  { type: 'string'; value: string } | { type: 'zset'; scores: Map<string, number> }
);

export type Reply = number | string | null | Reply[];

/** What was published, to whom it may concern at that moment. */
export type PublishListener = (channel: string, message: string) => void;

const compiled = new Map<string, CompiledScript>();

/**
 * A Redis small enough to be read and quick enough for thousands of schedules a second: strings and sorted sets with times
 * to live, PUBLISH, and the library's real scripts. test/lock replays the same random commands on a real one.
 */
export class RedisServer {
  #data = new Map<string, Stored>();
  #timeUs = 0;
  onPublish: PublishListener = () => undefined;

  /** @param timeUs the server's wall clock: it may jump */
  constructor(private readonly timeUs: () => number) {}

  /** A script is one moment: its time stands still, nobody comes in between, and an error undoes nothing. */
  eval(source: string, keys: readonly string[], args: readonly (string | number)[]): Reply {
    let script = compiled.get(source);
    if (!script) compiled.set(source, (script = compileLua(source)));
    this.#timeUs = Math.floor(this.timeUs());
    const redis = Table.of([]);
    redis.set('call', (...words) => [fromReply(this.#command(words.map(toArgument)))]);
    const [result] = script({ KEYS: Table.of(keys), ARGV: Table.of(args.map(String)), redis });
    return toReply(result);
  }

  command(...words: (string | number)[]): Reply {
    this.#timeUs = Math.floor(this.timeUs());
    const reply = this.#command(words.map(String));
    return typeof reply === 'object' && reply !== null && 'ok' in reply ? reply.ok : reply;
  }

  wipe(): void {
    this.#data.clear();
  }

  /** For a failover: what a replica has by now. */
  copy(): () => void {
    const copied = structuredClone(this.#data);
    return () => {
      this.#data = structuredClone(copied);
    };
  }

  has(key: string): boolean {
    this.#timeUs = Math.floor(this.timeUs());
    return this.#find(key) !== undefined;
  }

  /** Names that exist now. */
  keys(): string[] {
    this.#timeUs = Math.floor(this.timeUs());
    return [...this.#data.keys()].filter((key) => this.#find(key));
  }

  get #nowMs(): number {
    return Math.floor(this.#timeUs / 1000);
  }

  #find(key: string): Stored | undefined {
    const stored = this.#data.get(key);
    if (stored && this.#nowMs > stored.expireAt) {
      this.#data.delete(key);
      return undefined;
    }
    return stored;
  }

  #string(key: string): string | null {
    const stored = this.#find(key);
    if (stored?.type === 'zset') throw wrongType();
    return stored?.value ?? null;
  }

  #scores(key: string): Map<string, number> {
    const stored = this.#find(key);
    if (stored?.type === 'string') throw wrongType();
    return stored?.scores ?? new Map<string, number>();
  }

  #command(words: string[]): Reply | { ok: string } {
    const [name = '', key = '', ...rest] = words;
    const run = this.#commands[name.toUpperCase()];
    if (!run) throw new Error(`"${name}" is not known: teach it to testing/simulation/redis-server.ts`);
    return run(key, rest);
  }

  readonly #commands: Record<string, (key: string, rest: string[]) => Reply | { ok: string }> = {
    TYPE: (key) => ({ ok: this.#find(key)?.type ?? 'none' }),
    GET: (key) => this.#string(key),
    SET: (key, [value = '', ...options]) => this.#set(key, value, options),
    DEL: (key, rest) => [key, ...rest].filter((each) => this.#find(each) && this.#data.delete(each)).length,
    EXISTS: (key, rest) => [key, ...rest].filter((each) => this.#find(each)).length,
    INCR: (key) => this.#increase(key, 1),
    INCRBY: (key, [by]) => this.#increase(key, integer(by)),
    PTTL: (key) => this.#remaining(key),
    PEXPIRE: (key, [ms]) => this.#expire(key, this.#nowMs + integer(ms)),
    PEXPIREAT: (key, [at]) => this.#expire(key, integer(at)),
    PERSIST: (key) => {
      const stored = this.#find(key);
      if (!stored || stored.expireAt === Infinity) return 0;
      stored.expireAt = Infinity;
      return 1;
    },
    TIME: () => [String(Math.floor(this.#timeUs / 1_000_000)), String(this.#timeUs % 1_000_000)],
    PUBLISH: (channel, [message = '']) => this.#published(channel, message),
    SPUBLISH: (channel, [message = '']) => this.#published(channel, message),
    ZADD: (key, rest) => this.#zadd(key, rest),
    ZREM: (key, members) => this.#zrem(key, members),
    ZCARD: (key) => this.#scores(key).size,
    ZSCORE: (key, [member = '']) => {
      const score = this.#scores(key).get(member);
      return score === undefined ? null : textOfScore(score);
    },
    ZCOUNT: (key, [from, to]) =>
      [...this.#scores(key).values()].filter((score) => score >= Number(from) && score <= Number(to)).length,
    ZRANK: (key, [member]) => {
      const rank = sorted(this.#scores(key)).findIndex(([each]) => each === member);
      return rank < 0 ? null : rank;
    },
    ZRANGE: (key, rest) => this.#zrange(key, rest),
  };

  #set(key: string, value: string, options: string[]): Reply | { ok: string } {
    let expireAt = Infinity;
    const given = options.map((option) => option.toUpperCase());
    const old = this.#find(key);
    for (let at = 0; at < given.length; at += 1) {
      const option = given[at];
      if (option === 'NX' && old) return null;
      if (option === 'XX' && !old) return null;
      if (option === 'KEEPTTL') expireAt = old?.expireAt ?? Infinity;
      else if (option === 'PX') {
        const ms = integer(given[(at += 1)]);
        if (ms <= 0) throw new LuaError("ERR invalid expire time in 'set' command");
        expireAt = this.#nowMs + ms;
      } else if (option !== 'NX' && option !== 'XX') throw new LuaError('ERR syntax error');
    }
    this.#data.set(key, { type: 'string', value, expireAt });
    return { ok: 'OK' };
  }

  #increase(key: string, by: number): number {
    const value = integer(this.#string(key) ?? '0') + by;
    const expireAt = this.#find(key)?.expireAt ?? Infinity;
    this.#data.set(key, { type: 'string', value: String(value), expireAt });
    return value;
  }

  #remaining(key: string): number {
    const stored = this.#find(key);
    if (!stored) return -2;
    return stored.expireAt === Infinity ? -1 : stored.expireAt - this.#nowMs;
  }

  #expire(key: string, at: number): number {
    const stored = this.#find(key);
    if (!stored) return 0;
    // A time that is over deletes at once.
    if (at <= this.#nowMs) this.#data.delete(key);
    else stored.expireAt = at;
    return 1;
  }

  #published(channel: string, message: string): number {
    this.onPublish(channel, message);
    return 0;
  }

  #zadd(key: string, rest: string[]): number {
    const scores = this.#scores(key);
    const nx = rest[0]?.toUpperCase() === 'NX';
    let added = 0;
    for (let at = nx ? 1 : 0; at < rest.length; at += 2) {
      const score = Number(rest[at]);
      const member = rest[at + 1];
      if (member === undefined) throw new LuaError('ERR syntax error');
      if (rest[at] === '' || Number.isNaN(score)) throw new LuaError('ERR value is not a valid float');
      if (nx && scores.has(member)) continue;
      if (!scores.has(member)) added += 1;
      scores.set(member, score);
    }
    if (scores.size > 0 && !this.#find(key)) this.#data.set(key, { type: 'zset', scores, expireAt: Infinity });
    return added;
  }

  #zrem(key: string, members: string[]): number {
    const scores = this.#scores(key);
    const removed = members.filter((member) => scores.delete(member)).length;
    if (scores.size === 0) this.#data.delete(key);
    return removed;
  }

  #zrange(key: string, [start, stop, ...options]: string[]): Reply[] {
    const withScores = options.map((option) => option.toUpperCase());
    if (withScores.some((option) => option !== 'WITHSCORES')) throw new LuaError('ERR syntax error');
    const all = sorted(this.#scores(key));
    const place = (text: string | undefined) => {
      const at = integer(text);
      return at < 0 ? Math.max(0, all.length + at) : at;
    };
    const last = integer(stop) < 0 ? all.length + integer(stop) : integer(stop);
    const range = all.slice(place(start), last + 1);
    return range.flatMap(([member, score]) => (withScores.length > 0 ? [member, textOfScore(score)] : [member]));
  }
}

function sorted(scores: Map<string, number>): [string, number][] {
  return [...scores].toSorted(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
}

function textOfScore(score: number): string {
  return Object.is(score, -0) ? '-0' : String(score);
}

function integer(text: string | undefined): number {
  if (text === undefined || !/^(?:0|-?[1-9]\d*)$/.test(text))
    throw new LuaError('ERR value is not an integer or out of range');
  return Number(text);
}

function wrongType(): LuaError {
  return new LuaError('WRONGTYPE Operation against a key holding the wrong kind of value');
}

/** As Redis converts what a script passes to it. */
function toArgument(value: Value): string {
  if (typeof value === 'string') return value;
  // Whole numbers keep all their digits, unlike in tostring().
  if (typeof value === 'number') return textOfNumber(value, 17);
  throw new LuaError('ERR Lua redis lib command arguments must be strings or integers');
}

function fromReply(reply: Reply | { ok: string }): Value {
  if (reply === null) return false;
  if (Array.isArray(reply)) return Table.of(reply.map(fromReply));
  if (typeof reply === 'object') {
    const status = new Table();
    status.set('ok', reply.ok);
    return status;
  }
  return reply;
}

/** As Redis converts what a script returns: numbers lose their fraction, a list ends at its first nil. */
function toReply(value: Value): Reply {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Math.trunc(value);
  if (value === true) return 1;
  if (!(value instanceof Table)) return null;
  const ok = value.get('ok');
  if (typeof ok === 'string') return ok;
  const error = value.get('err');
  if (typeof error === 'string') throw new LuaError(error);
  return value.list.map(toReply);
}
