import type { Lease } from '@firstcome/lock';

export type ClientName = 'A' | 'B';

/** Whom a lock must go to next: to nobody in particular, to the first of a process, to the first of all. */
export type Fairness = 'none' | 'process' | 'all';

export interface Call {
  readonly id: number;
  readonly client: ClientName;
  readonly key: string;
  readonly ttlMs: number;
  readonly autoRenew: boolean;
  /** One attempt. */
  readonly once: boolean;
  readonly deadline: number;
  aborted: boolean;
}

/** What the store has for a token; a hand-over inside a process passes it on with the time that is left. */
interface Hold {
  readonly ttlMs: number;
  readonly autoRenew: boolean;
  readonly client: ClientName;
  /** Until then the store keeps it, and by then it has freed it: a lock handed over in a line has the time to claim it, too. */
  until: number;
  freeBy: number;
  /** Shortened: nobody is told, and who waits elsewhere looks when the time that it saw is over, or after a recheck. */
  foreseenBy?: number;
  /** Its process no longer trusts it. */
  trustedUntil: number;
  /** An operator took it away; its process finds out with its next renewal, or when the time is over. */
  forcedAt?: number;
  extendedTo?: number;
  /** Its time was set to less: it is not handed on. */
  shortened?: boolean;
}

export interface Held {
  readonly key: string;
  readonly lease: Lease;
  readonly hold: Hold;
}

interface KeyState {
  holder?: Hold;
  readonly waiting: Call[];
  readonly open: Held[];
  readonly holds: Map<string, Hold>;
  fence: number;
}

const margin = (ttlMs: number) => ttlMs * 0.01 + 2;
/** One store frees a key in the last millisecond of its time and the other after it, and a waiter looks one later. */
const edgeMs = 3;
const recheckMs = 1000;
const claimMs = 1000;

/** A renewed one asks a third of the TTL after it was renewed, an extended one when as much is left as a renewal would find. */
function knowsBy({ autoRenew, forcedAt = 0, ttlMs, extendedTo = 0, trustedUntil }: Hold): number {
  return autoRenew ? Math.max(forcedAt + ttlMs, extendedTo) : trustedUntil;
}

/** What a lock is, in a page: everything that happens is told to it, and it throws where that could not be. */
export class LockModel {
  readonly #keys = new Map<string, KeyState>();

  constructor(private readonly fairness: Fairness) {}

  key(name: string): KeyState {
    let state = this.#keys.get(name);
    if (!state) this.#keys.set(name, (state = { waiting: [], open: [], holds: new Map(), fence: 0 }));
    return state;
  }

  get open(): Held[] {
    return [...this.#keys.values()].flatMap(({ open }) => open);
  }

  get waiting(): Call[] {
    return [...this.#keys.values()].flatMap(({ waiting }) => waiting);
  }

  asked(call: Call): void {
    this.key(call.key).waiting.push(call);
  }

  granted(call: Call, lease: Lease, at: number): void {
    const state = this.key(call.key);
    const place = state.waiting.indexOf(call);
    const rivals =
      this.fairness === 'process' ? state.waiting.filter(({ client }) => client === call.client) : state.waiting;
    if (this.fairness !== 'none' && rivals[0] !== call)
      throw new Error(`${call.id} was granted before ${rivals[0]?.id}`);
    state.waiting.splice(place, 1);
    const handedOn = state.holds.get(lease.token);
    const hold = handedOn ?? this.#newHold(call, at);
    if (handedOn) {
      if (state.open.some((each) => each.hold === handedOn)) throw new Error(`${call.id} got a hold that is in use`);
      if (handedOn.client !== call.client) throw new Error(`${call.id} got a hold of another process`);
      if (handedOn.shortened) throw new Error(`${call.id} got a hold that was shortened`);
      if (at >= handedOn.trustedUntil) throw new Error(`${call.id} got a hold that was over`);
    }
    state.holds.set(lease.token, hold);
    state.open.push({ key: call.key, lease, hold });
    // Handed on by a process that does not know yet: nothing new, and found out with the next renewal.
    if (hold.forcedAt !== undefined) return;
    if (state.holder && state.holder !== hold && at < state.holder.until - edgeMs) {
      throw new Error(`${call.id} was granted while somebody else held it`);
    }
    if (lease.fence <= state.fence) throw new Error(`fence ${lease.fence} came after ${state.fence}`);
    state.fence = lease.fence;
    state.holder = hold;
  }

  /** `busy` is the null of a single attempt. */
  refused(call: Call, code: string, at: number): void {
    const state = this.key(call.key);
    state.waiting.splice(state.waiting.indexOf(call), 1);
    const taken =
      (state.holder && at <= state.holder.freeBy) ||
      state.waiting.length > 0 ||
      state.open.some(({ hold }) => hold.client === call.client);
    const honest =
      (code === 'busy' && call.once && taken) ||
      (code === 'LOCK_TIMEOUT' && !call.once && at >= call.deadline) ||
      (code === 'LOCK_ABORTED' && call.aborted);
    if (!honest) throw new Error(`${call.id} was refused with ${code}`);
  }

  released(held: Held, outcome: string, at: number): void {
    const state = this.key(held.key);
    const { hold } = held;
    state.open.splice(state.open.indexOf(held), 1);
    if (state.holder === hold && at < hold.until) state.holder = undefined;
    const alone = !state.waiting.some(({ client }) => client === hold.client);
    const expected = hold.forcedAt === undefined && at < hold.trustedUntil ? 'released' : 'lost';
    if (outcome !== expected && (hold.forcedAt === undefined || alone)) {
      throw new Error(`a release says ${outcome} instead of ${expected}`);
    }
  }

  extended(held: Held, ms: number, code: string, at: number): void {
    const { hold } = held;
    const expected = hold.forcedAt === undefined && at < hold.trustedUntil ? 'ok' : 'LOCK_LOST';
    if (code !== expected) throw new Error(`an extension says ${code} instead of ${expected}`);
    if (code !== 'ok') return;
    if (!hold.autoRenew && at + ms < hold.trustedUntil) {
      // Shortened: nobody gets it after this lease.
      hold.shortened = true;
      hold.until = at + ms;
      hold.foreseenBy = Math.min(Math.max(hold.freeBy, hold.foreseenBy ?? 0), at + recheckMs + edgeMs);
      hold.freeBy = at + ms + edgeMs;
      hold.trustedUntil = at + ms - margin(ms);
      return;
    }
    hold.extendedTo = Math.max(hold.extendedTo ?? 0, at + ms);
    hold.until = Math.max(hold.until, at + ms);
    hold.freeBy = Math.max(hold.freeBy, at + ms + edgeMs);
    hold.trustedUntil = Math.max(hold.trustedUntil, at + ms - margin(ms));
  }

  forced(key: string, held: boolean, at: number): void {
    const state = this.key(key);
    const { holder } = state;
    const certain = !holder || at < holder.until - edgeMs || at > holder.freeBy;
    const expected = holder !== undefined && at < holder.until;
    if (certain && held !== expected) throw new Error(`a forced release says ${held} instead of ${expected}`);
    if (!holder || !held) return;
    holder.forcedAt = at;
    state.holder = undefined;
  }

  /** When all is quiet: nobody waits who need not, and every lease knows what it is. */
  rest(now: number): void {
    for (const { holder, waiting, open } of this.#keys.values()) {
      for (const call of waiting) {
        if (call.once || call.aborted || call.deadline <= now) throw new Error(`${call.id} still waits`);
        const behindForced = open.some(
          ({ hold }) => hold.client === call.client && hold.forcedAt !== undefined && now <= knowsBy(hold),
        );
        const free = !holder || now > Math.max(holder.freeBy + this.#unforeseenMs, holder.foreseenBy ?? 0);
        if (free && !behindForced) throw new Error(`${call.id} waits for a lock that nobody holds`);
      }
      for (const { lease, hold } of open) {
        const lost = lease.loss !== undefined;
        const known = hold.forcedAt === undefined || now > knowsBy(hold);
        const expected = hold.forcedAt !== undefined || now >= hold.trustedUntil;
        if (known && lost !== expected) throw new Error(`a lease believes ${lost ? 'that it is lost' : 'in itself'}`);
      }
    }
  }

  /** A release is told at once. That a time runs out is foreseen by who saw it granted: in a line only the first of a process looks. */
  get #unforeseenMs(): number {
    return this.fairness === 'all' ? recheckMs : 0;
  }

  #newHold({ client, ttlMs, autoRenew }: Call, at: number): Hold {
    const until = autoRenew ? Infinity : at + ttlMs;
    const freeBy = (this.fairness === 'all' ? Math.max(until, at + claimMs) : until) + edgeMs;
    return { client, ttlMs, autoRenew, until, freeBy, trustedUntil: until - margin(ttlMs) };
  }
}
