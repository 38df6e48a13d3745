import { withDeadline } from '../../ports/clock.js';
import type {
  AcquireAnswer,
  AcquireRequest,
  LockStore,
  RenewAnswer,
  RenewRequest,
  StoredLock,
  StoreFactory,
  StorePorts,
} from '../store.js';
import { namesOf, type Names } from './names.js';
import type { Call, RedisPort, ScriptRun } from './port.js';
import { RedisLine } from './redis-line.js';
import { loadScript, type Script } from './script.js';
import { groupBySlot } from './slots.js';
import { RedisWakeups } from './wakeups.js';

export interface RedisStoreOptions {
  /** In metrics, on the lease, in the guard's rows. `redis`. */
  name?: string;
  /** Every call to Redis ends by this. 1500. */
  callTimeoutMs?: number;
  /** How long somebody who was handed a lock has to claim it. 1000. */
  claimMs?: number;
  /** `queue`: a waiter of the next lower priority goes first once it has waited this much longer. 1000. */
  ageingMs?: number;
}

const scripts = {
  acquire: loadScript('acquire'),
  renew: loadScript('renew'),
  shorten: loadScript('shorten'),
  release: loadScript('release'),
  raise: loadScript('raise'),
  inspect: loadScript('inspect'),
};

export function redisPortStore(port: RedisPort, options: RedisStoreOptions = {}): StoreFactory {
  return (ports) => new RedisStore(port, options, ports);
}

/** Redis as it is found: one node, Sentinel or Cluster. All decisions are scripts; this only names keys and reads answers. */
export class RedisStore implements LockStore {
  readonly name: string;
  readonly excludes = true;
  readonly wakeups: RedisWakeups;
  readonly line: RedisLine;
  readonly #names: Names;
  readonly #timeoutMs: number;
  readonly #claimMs: number;
  readonly #publish: string;

  constructor(
    private readonly port: RedisPort,
    options: RedisStoreOptions,
    private readonly ports: StorePorts,
  ) {
    this.name = options.name ?? 'redis';
    this.#timeoutMs = options.callTimeoutMs ?? 1500;
    this.#claimMs = options.claimMs ?? 1000;
    this.#names = namesOf(port.cluster, port.prefix);
    // A sharded message stays on its shard: PUBLISH on a Cluster goes to every node.
    this.#publish = port.cluster ? 'SPUBLISH' : 'PUBLISH';
    this.wakeups = new RedisWakeups(port, this.#names, ports, this.#timeoutMs);
    const { processId } = ports;
    const settings = { processId, publish: this.#publish, claimMs: this.#claimMs, ageingMs: options.ageingMs ?? 1000 };
    this.line = new RedisLine(this.#names, settings, (script, run, late) => this.#run(script, run, late));
  }

  async acquire(request: AcquireRequest): Promise<AcquireAnswer> {
    const [group, ...others] = this.#groups(request.keys);
    const first = await this.#acquire(group ?? [], request);
    if (others.length === 0 || !first.granted) return first;
    return this.#acquireRest(others, request, [group ?? []], first.fence);
  }

  async renew(requests: readonly RenewRequest[], timeoutMs: number): Promise<RenewAnswer[]> {
    const parts = requests.flatMap((request, index) => request.keys.map((key) => ({ key, index, request })));
    const groups = this.port.cluster ? bySlot(parts) : [parts];
    const runs = groups.map((group) => ({
      keys: group.map(({ key }) => this.#names.lock(key)),
      args: group.flatMap(({ request }) => [request.token, request.ttlMs]),
    }));
    const answers: RenewAnswer[] = requests.map(() => 'renewed');
    const replies = await this.#runAll(scripts.renew, runs, Math.min(timeoutMs, this.#timeoutMs));
    for (const [at, group] of groups.entries()) {
      const reply = replies[at];
      for (const [place, { index }] of group.entries()) {
        // A key that is lost is lost, even where the answer for another key of the same lease is missing.
        if (reply instanceof Error) answers[index] = answers[index] === 'lost' ? 'lost' : reply;
        else if (Number((reply as unknown[])[place]) !== 1) answers[index] = 'lost';
      }
    }
    return answers;
  }

  async shorten({ keys, token, ttlMs }: RenewRequest): Promise<RenewAnswer> {
    try {
      const shortened = await Promise.all(
        this.#groups(keys).map((group) =>
          this.#run(scripts.shorten, { keys: group.map(this.#names.lock), args: [token, ttlMs] }),
        ),
      );
      return shortened.every((answer) => Number(answer) === 1) ? 'renewed' : 'lost';
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  async release(keys: readonly string[], token: string): Promise<boolean> {
    return (await this.#release(keys, token)) === keys.length;
  }

  async forceRelease(key: string): Promise<boolean> {
    // By the token that was seen: asked twice, or done late, it takes nothing away from whoever came after that one.
    const { token } = await this.inspect(key);
    return token !== undefined && (await this.#release([key], token)) > 0;
  }

  async raise(keys: readonly string[], token: string, fence: number): Promise<boolean> {
    const raised = await Promise.all(
      this.#groups(keys).map((group) =>
        this.#run(scripts.raise, {
          keys: [...group.map(this.#names.lock), ...group.map(this.#names.fence)],
          args: [token, fence],
        }),
      ),
    );
    return raised.every((answer) => Number(answer) === 1);
  }

  async inspect(key: string): Promise<StoredLock> {
    const names = [this.#names.lock(key), this.#names.line(key), this.#names.fence(key)];
    const [token, remainingMs, fence, queued, storeTimeMs] = (await this.#run(scripts.inspect, {
      keys: names,
      args: [],
    })) as [string, unknown, unknown, unknown, unknown];
    return {
      held: token !== '',
      token: token || undefined,
      remainingMs: Math.max(0, Number(remainingMs)),
      fence: Number(fence),
      queued: Number(queued),
      storeTimeMs: Number(storeTimeMs),
    };
  }

  async close(): Promise<void> {
    await this.wakeups.close();
  }

  /** One script where all keys share a slot; on a Cluster else one per slot, in the order of the sorted keys. */
  #groups(keys: readonly string[]): (readonly string[])[] {
    return this.port.cluster && keys.length > 1 ? groupBySlot(keys) : [keys];
  }

  async #acquire(keys: readonly string[], request: AcquireRequest): Promise<AcquireAnswer> {
    const { token, ttlMs, fences } = request;
    const names = [...keys.map(this.#names.lock), ...keys.map(this.#names.fence)];
    const late = (reply: unknown) => {
      if (Number((reply as unknown[])[0]) === 1) request.onLateGrant();
    };
    const reply = await this.#run(scripts.acquire, { keys: names, args: [token, ttlMs, fences] }, late);
    const [granted, value] = (reply as unknown[]).map(Number) as [number, number];
    return granted === 1 ? { granted: true, fence: value } : { granted: false, remainingMs: value };
  }

  /** Slots of a Cluster cannot be taken at once: one refusal, and what was taken is given back. */
  async #acquireRest(
    groups: readonly (readonly string[])[],
    request: AcquireRequest,
    taken: (readonly string[])[],
    firstFence: number,
  ): Promise<AcquireAnswer> {
    let fence = firstFence;
    for (const group of groups) {
      const answer = await this.#acquire(group, request);
      if (!answer.granted) return { ...answer, spent: await this.#giveBack(taken, request.token) };
      taken.push(group);
      fence = Math.max(fence, answer.fence);
    }
    // One fence for the whole lease: every counter goes up to the end of the highest block.
    if (await this.raise(request.keys, request.token, fence + request.fences - 1)) return { granted: true, fence };
    return { granted: false, remainingMs: 0, spent: await this.#giveBack([request.keys], request.token) };
  }

  async #giveBack(taken: readonly (readonly string[])[], token: string): Promise<'given back' | 'perhaps given back'> {
    try {
      await Promise.all(taken.map((keys) => this.#release(keys, token)));
      return 'given back';
    } catch {
      return 'perhaps given back';
    }
  }

  async #release(keys: readonly string[], token: string): Promise<number> {
    const runs = this.#groups(keys).map((group) => ({
      keys: [...group.map(this.#names.lock), ...group.map(this.#names.line), ...group.map(this.#names.fence)],
      args: [token, this.#publish, this.#claimMs, ...group.map(this.#names.channel)],
    }));
    const held = await Promise.all(runs.map((run) => this.#run(scripts.release, run)));
    return held.reduce<number>((sum, count) => sum + Number(count), 0);
  }

  async #run(script: Script, run: ScriptRun, late?: (reply: unknown) => void): Promise<unknown> {
    const call: Call = { abandoned: false };
    const running = this.port.run(script, run, call);
    if (late) {
      // oxlint-disable-next-line typescript/no-floating-promises -- a late error says nothing that the deadline has not said
      running.then((reply) => call.abandoned && late(reply)).catch(() => undefined);
    }
    return this.#inTime(running, call, this.#timeoutMs, script.name);
  }

  async #runAll(script: Script, runs: readonly ScriptRun[], timeoutMs: number): Promise<unknown[]> {
    const call: Call = { abandoned: false };
    try {
      return await this.#inTime(this.port.runAll(script, runs, call), call, timeoutMs, script.name);
    } catch (error) {
      return runs.map(() => (error instanceof Error ? error : new Error(String(error))));
    }
  }

  #inTime<T>(running: Promise<T>, call: Call, ms: number, what: string): Promise<T> {
    return withDeadline(this.ports.clock, ms, running, () => {
      call.abandoned = true;
      return new Error(`Redis did not answer "${what}" within ${Math.round(ms)} ms`);
    });
  }
}

function bySlot<T extends { key: string }>(parts: readonly T[]): T[][] {
  const groups = groupBySlot([...new Set(parts.map(({ key }) => key))]);
  return groups.map((keys) => {
    const wanted = new Set(keys);
    return parts.filter(({ key }) => wanted.has(key));
  });
}
