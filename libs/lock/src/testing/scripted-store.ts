import { memoryStore } from '../stores/memory.js';
import type { LockStore, StoreFactory, StorePorts } from '../stores/store.js';

type Verb = 'acquire' | 'renew' | 'shorten' | 'release' | 'raise';

/** A store in memory of which single calls can be made to fail, to hang or to answer late: outcomes nobody knows. */
export class ScriptedStore {
  readonly calls: string[] = [];
  /** The store of whoever else is out there. */
  real!: LockStore;
  readonly #plans = new Map<Verb, ((run: () => Promise<unknown>) => Promise<unknown>)[]>();

  readonly factory: StoreFactory = (ports) => this.#open(ports);

  /** The next call of the verb goes through `plan`, which may run it before, after, or never. */
  next(verb: Verb, plan: (run: () => Promise<unknown>) => Promise<unknown>): void {
    this.#plans.set(verb, [...(this.#plans.get(verb) ?? []), plan]);
  }

  count(verb: Verb): number {
    return this.calls.filter((call) => call === verb).length;
  }

  #open(ports: StorePorts): LockStore {
    this.real = memoryStore()(ports);
    const through = <A extends unknown[], R>(verb: Verb, call: (...args: A) => Promise<R>) => {
      return (...args: A): Promise<R> => {
        this.calls.push(verb);
        const plan = this.#plans.get(verb)?.shift();
        return plan ? (plan(() => call(...args)) as Promise<R>) : call(...args);
      };
    };
    const { real } = this;
    return {
      name: real.name,
      excludes: true,
      wakeups: real.wakeups,
      line: real.line,
      acquire: through('acquire', (request) => real.acquire(request)),
      renew: through('renew', (requests, timeoutMs) => real.renew(requests, timeoutMs)),
      shorten: through('shorten', (request) => real.shorten(request)),
      release: through('release', (keys, token) => real.release(keys, token)),
      raise: through('raise', (keys, token, fence) => real.raise(keys, token, fence)),
      inspect: (key) => real.inspect(key),
      forceRelease: (key) => real.forceRelease(key),
      close: () => real.close(),
    };
  }
}
