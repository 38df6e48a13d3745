import type {
  AcquireAnswer,
  AcquireRequest,
  JoinAnswer,
  JoinRequest,
  LockStore,
  RenewAnswer,
  RenewRequest,
  StoredLock,
  StoreFactory,
  StorePorts,
  Wakeups,
  WaitingLine,
  Watch,
} from './store.js';

export interface MemoryStoreOptions {
  /** `memory`. */
  name?: string;
}

interface Entry {
  token: string;
  priority: number;
  arrivedAt: number;
  order: number;
}

interface Slot {
  token?: string;
  expiresAt: number;
  line: Entry[];
  watchers: Map<string, () => void>;
}

interface Memory {
  slots: Map<string, Slot>;
  /** One counter for all keys: it rises for each of them, and an idle key needs no memory of its own. */
  fence: number;
}

/** One process, one memory: clients made from the same factory exclude each other, and nobody else. */
export function memoryStore(options: MemoryStoreOptions = {}): StoreFactory {
  const memory: Memory = { slots: new Map(), fence: 0 };
  return (ports) => new MemoryStore(options.name ?? 'memory', memory, ports);
}

/** How much later somebody of the next lower priority may have come and still go first. */
const ageingMs = 1000;

class MemoryStore implements LockStore, Wakeups, WaitingLine {
  readonly excludes = true;

  constructor(
    readonly name: string,
    private readonly memory: Memory,
    private readonly ports: StorePorts,
  ) {}

  get wakeups(): Wakeups {
    return this;
  }

  get line(): WaitingLine {
    return this;
  }

  async acquire({ keys, token, ttlMs, fences }: AcquireRequest): Promise<AcquireAnswer> {
    const held = keys.map((key) => this.#slot(key)).filter((slot) => this.#holder(slot) && slot.token !== token);
    if (held.length > 0) {
      const expiresAt = Math.max(...held.map((slot) => slot.expiresAt));
      return { granted: false, remainingMs: expiresAt - this.ports.clock.now() };
    }
    return { granted: true, fence: this.#grant(keys, token, ttlMs, fences) };
  }

  async renew(requests: readonly RenewRequest[]): Promise<RenewAnswer[]> {
    return requests.map(({ keys, token, ttlMs }) => {
      let answer: RenewAnswer = 'renewed';
      for (const slot of keys.map((key) => this.#slot(key))) {
        if (this.#holder(slot) === token) slot.expiresAt = Math.max(slot.expiresAt, this.ports.clock.now() + ttlMs);
        else answer = 'lost';
      }
      return answer;
    });
  }

  async shorten({ keys, token, ttlMs }: RenewRequest): Promise<RenewAnswer> {
    const slots = keys.map((key) => this.#slot(key));
    if (slots.some((slot) => this.#holder(slot) !== token)) return 'lost';
    for (const slot of slots) slot.expiresAt = this.ports.clock.now() + ttlMs;
    return 'renewed';
  }

  async release(keys: readonly string[], token: string): Promise<boolean> {
    let all = true;
    for (const key of keys) {
      if (this.#holder(this.#slot(key)) === token) this.#free(key);
      else all = false;
    }
    return all;
  }

  async raise(keys: readonly string[], token: string, fence: number): Promise<boolean> {
    const slots = keys.map((key) => this.#slot(key));
    if (slots.some((slot) => this.#holder(slot) !== token)) return false;
    this.memory.fence = Math.max(this.memory.fence, fence);
    return true;
  }

  async inspect(key: string): Promise<StoredLock> {
    const slot = this.#slot(key);
    const token = this.#holder(slot);
    const now = this.ports.clock.now();
    const remainingMs = token === undefined ? 0 : slot.expiresAt - now;
    return {
      held: token !== undefined,
      token,
      remainingMs,
      fence: this.memory.fence,
      queued: slot.line.length,
      storeTimeMs: now,
    };
  }

  async forceRelease(key: string): Promise<boolean> {
    if (this.#holder(this.#slot(key)) === undefined) return false;
    this.#free(key);
    return true;
  }

  async close(): Promise<void> {}

  start(): void {}

  watch(keys: readonly string[], token: string, wake: () => void): Watch {
    for (const key of keys) this.#slot(key).watchers.set(token, wake);
    const close = () => {
      for (const key of keys) this.#slot(key).watchers.delete(token);
    };
    return { listen: () => undefined, live: true, close };
  }

  async join({ key, token, ttlMs, priority, maxWaiters }: JoinRequest): Promise<JoinAnswer> {
    const slot = this.#slot(key);
    const holder = this.#holder(slot);
    const inLine = slot.line.findIndex((entry) => entry.token === token);
    if (holder === token || (holder === undefined && inLine <= 0 && (inLine === 0 || slot.line.length === 0))) {
      slot.line = slot.line.filter((entry) => entry.token !== token);
      return { granted: true, fence: this.#grant([key], token, ttlMs, 1) };
    }
    if (holder === undefined) this.#free(key);
    const remainingMs = slot.expiresAt - this.ports.clock.now();
    if (inLine >= 0) return { granted: false, remainingMs, place: inLine + 1, entered: false };
    const now = this.ports.clock.now();
    const place = slot.line.length + 1;
    if (place > maxWaiters) {
      return { granted: false, full: true, place, estimateMs: now - (slot.line[0]?.arrivedAt ?? now) };
    }
    const order = now + (priority - 1) * ageingMs;
    const at = slot.line.findIndex((entry) => entry.order > order);
    slot.line.splice(at < 0 ? slot.line.length : at, 0, { token, priority, arrivedAt: now, order });
    return { granted: false, remainingMs, place: (at < 0 ? slot.line.length - 1 : at) + 1, entered: true };
  }

  async leave(key: string, token: string): Promise<void> {
    const slot = this.#slot(key);
    slot.line = slot.line.filter((entry) => entry.token !== token);
    if (this.#holder(slot) === token) this.#free(key);
  }

  #grant(keys: readonly string[], token: string, ttlMs: number, fences: number): number {
    // One after the other: a slot that is made may push out an idle one, and that must not be one of ours.
    for (const key of keys) {
      const slot = this.#slot(key);
      const until = this.ports.clock.now() + ttlMs;
      slot.expiresAt = this.#holder(slot) === token ? Math.max(slot.expiresAt, until) : until;
      slot.token = token;
    }
    this.memory.fence += fences;
    return this.memory.fence - fences + 1;
  }

  /** Hands the lock to the head of its line, or frees it and tells everybody. */
  #free(key: string): void {
    const slot = this.#slot(key);
    const [head] = slot.line;
    if (head) {
      // All waiters live in this process: whoever is named is awake, so nothing is left unclaimed.
      this.#grant([key], head.token, ageingMs, 1);
      slot.watchers.get(head.token)?.();
      return;
    }
    slot.token = undefined;
    for (const wake of slot.watchers.values()) wake();
  }

  #holder(slot: Slot): string | undefined {
    return slot.token !== undefined && slot.expiresAt > this.ports.clock.now() ? slot.token : undefined;
  }

  #slot(key: string): Slot {
    const { slots } = this.memory;
    let slot = slots.get(key);
    if (!slot) {
      this.#forget();
      slots.set(key, (slot = { expiresAt: 0, line: [], watchers: new Map() }));
    }
    return slot;
  }

  /** Two old keys for every new one: what is idle goes, what is not goes to the young end. */
  #forget(): void {
    const { slots } = this.memory;
    for (const [key, slot] of Array.from(take(slots, 2))) {
      slots.delete(key);
      if (this.#holder(slot) !== undefined || slot.line.length > 0 || slot.watchers.size > 0) slots.set(key, slot);
    }
  }
}

function* take<T>(items: Iterable<T>, count: number): Iterable<T> {
  let left = count;
  for (const item of items) {
    if (left === 0) return;
    left -= 1;
    yield item;
  }
}
