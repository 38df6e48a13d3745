import type {
  AcquireAnswer,
  AcquireRequest,
  LockStore,
  RenewAnswer,
  RenewRequest,
  StoredLock,
  StoreFactory,
  StorePorts,
  Wakeups,
} from '../store.js';
import { cameBackEmpty, RedlockNode, type Mark } from './node.js';
import { askAll, countOf, errorsOf, majorityOf, settledBy, type NodeAnswer } from './quorum.js';
import { QuorumWakeups } from './wakeups.js';

export interface RedlockOptions {
  /** `redlock`. */
  name?: string;
  /** The longest TTL: a node that lost its memory is not counted for this long. 30000. */
  maxTtlMs?: number;
}

interface Vote {
  answer: AcquireAnswer;
  mark: Mark;
}

/** A lock on the majority of independent stores. `nodes` are single-node stores, each with a short deadline of its own. */
export function redlockOf(nodes: readonly StoreFactory[], options: RedlockOptions = {}): StoreFactory {
  return (ports) => new RedlockStore(nodes, options, ports);
}

type Refusal = Extract<AcquireAnswer, { granted: false }>;

class RedlockStore implements LockStore {
  readonly name: string;
  readonly excludes = true;
  readonly maxTtlMs: number;
  readonly wakeups: Wakeups;
  readonly #nodes: readonly RedlockNode[];
  readonly #majority: number;
  readonly #silent = new Set<RedlockNode>();

  constructor(
    nodes: readonly StoreFactory[],
    options: RedlockOptions,
    private readonly ports: StorePorts,
  ) {
    this.name = options.name ?? 'redlock';
    this.maxTtlMs = options.maxTtlMs ?? 30_000;
    this.#nodes = nodes.map((make) => new RedlockNode(make(ports), ports));
    this.#majority = majorityOf(nodes.length);
    this.wakeups = new QuorumWakeups(
      this.#stores.flatMap(({ wakeups }) => wakeups ?? []),
      this.#majority,
    );
    // Marked as early as possible: what this process has seen before, it need not guess.
    for (const node of this.#nodes) node.mark().catch(() => undefined);
  }

  async acquire(request: AcquireRequest): Promise<AcquireAnswer> {
    // One node before all others: contenders meet there first, and the votes of the rest do not split. A node that did not
    // answer lately does not lead.
    const first = this.#nodes.find((node) => !this.#silent.has(node)) ?? this.#nodes[0];
    if (!first) throw new Error('redlock has no nodes');
    const others = this.#nodes.filter((node) => node !== first);
    const lead = await askAll([this.#vote(first, request)], () => false);
    const rest = await askAll(
      others.map((node) => this.#vote(node, request)),
      (answers) => this.#decided([...lead, ...answers]),
    );
    const votes = [...lead, ...rest];
    const trusted = this.#granted(votes);
    if (trusted.length >= this.#majority) {
      const fence = Math.max(...trusted.map(({ answer }) => answer.fence));
      // The lease counts when a majority will never draw a lower fence again.
      if (await this.#raise(trusted, request, fence + request.fences - 1)) return { granted: true, fence };
    }
    await this.#giveBack(request);
    return { ...this.#refusal(votes, trusted.length), spent: 'given back' };
  }

  async renew(requests: readonly RenewRequest[], timeoutMs: number): Promise<RenewAnswer[]> {
    const asked = this.#stores.map((store) => store.renew(requests, timeoutMs));
    const perNode = await askAll(asked, (answers) =>
      requests.every((_request, index) => settledBy<RenewAnswer[]>(this.#majority, isRenewed(index))(answers)),
    );
    return requests.map((_request, index) => this.#renewal(perNode, index));
  }

  async shorten(request: RenewRequest): Promise<RenewAnswer> {
    const asked = this.#stores.map(async (store) => [await store.shorten(request)]);
    return this.#renewal(await askAll(asked, settledBy<RenewAnswer[]>(this.#majority, isRenewed(0))), 0);
  }

  #renewal(perNode: readonly (NodeAnswer<RenewAnswer[]> | undefined)[], index: number): RenewAnswer {
    if (countOf(perNode, isRenewed(index)) >= this.#majority) return 'renewed';
    const lost = countOf(perNode, (answers) => answers[index] === 'lost');
    // Lost for certain only when the others could not make a majority any more.
    if (lost > this.#nodes.length - this.#majority) return 'lost';
    return new Error('no majority of the nodes renewed the lock');
  }

  async release(keys: readonly string[], token: string): Promise<boolean> {
    const answers = await askAll(
      this.#stores.map((store) => store.release(keys, token)),
      settledBy(this.#majority, Boolean),
    );
    if (countOf(answers, Boolean) >= this.#majority) return true;
    if (errorsOf(answers).length >= this.#majority)
      throw new AggregateError(errorsOf(answers), 'no majority of the nodes answered');
    return false;
  }

  async raise(keys: readonly string[], token: string, fence: number): Promise<boolean> {
    const answers = await askAll(
      this.#stores.map((store) => store.raise(keys, token, fence)),
      settledBy(this.#majority, Boolean),
    );
    return countOf(answers, Boolean) >= this.#majority;
  }

  async inspect(key: string): Promise<StoredLock> {
    const answers = await askAll(
      this.#stores.map((store) => store.inspect(key)),
      () => false,
    );
    const seen = answers.flatMap((answer) => (answer && 'value' in answer ? [answer.value] : []));
    const [any] = seen;
    if (!any || seen.length < this.#majority)
      throw new AggregateError(errorsOf(answers), 'no majority of the nodes answered');
    const fence = Math.max(...seen.map((lock) => lock.fence));
    for (const { token } of seen) {
      const same = seen
        .filter((lock) => lock.held && lock.token === token)
        .toSorted((a, b) => b.remainingMs - a.remainingMs);
      const last = same[this.#majority - 1];
      if (last) return { ...last, fence };
    }
    return { held: false, remainingMs: 0, fence, queued: 0, storeTimeMs: any.storeTimeMs };
  }

  async forceRelease(key: string): Promise<boolean> {
    const answers = await askAll(
      this.#stores.map((store) => store.forceRelease(key)),
      () => false,
    );
    if (errorsOf(answers).length >= this.#majority)
      throw new AggregateError(errorsOf(answers), 'no majority of the nodes answered');
    return countOf(answers, Boolean) > 0;
  }

  async close(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
  }

  get #stores(): LockStore[] {
    return this.#nodes.map(({ store }) => store);
  }

  async #vote(node: RedlockNode, request: AcquireRequest): Promise<Vote> {
    try {
      const [answer, mark] = await Promise.all([node.store.acquire(request), node.mark()]);
      this.#silent.delete(node);
      return { answer, mark };
    } catch (error) {
      this.#silent.add(node);
      throw error;
    }
  }

  #decided(votes: readonly (NodeAnswer<Vote> | undefined)[]): boolean {
    return this.#granted(votes).length >= this.#majority;
  }

  /** The grants that count: of nodes that remember. */
  #granted(votes: readonly (NodeAnswer<Vote> | undefined)[]) {
    const cast = votes.flatMap((vote) => (vote && 'value' in vote ? [vote.value] : []));
    const empty = cameBackEmpty(
      cast.map(({ mark }) => mark),
      this.maxTtlMs,
    );
    return cast.flatMap(({ answer, mark: { node } }) => (answer.granted && !empty.has(node) ? [{ answer, node }] : []));
  }

  async #raise(
    trusted: readonly { node: RedlockNode }[],
    { keys, token }: AcquireRequest,
    fence: number,
  ): Promise<boolean> {
    const raised = await askAll(
      trusted.map(({ node }) => node.store.raise(keys, token, fence)),
      settledBy(this.#majority, Boolean),
    );
    return countOf(raised, Boolean) >= this.#majority;
  }

  /** On every node, also on those that said no or nothing: an unheard grant would stand in everybody's way. */
  async #giveBack({ keys, token }: AcquireRequest): Promise<void> {
    await askAll(
      this.#stores.map((store) => store.release(keys, token)),
      settledBy(this.#majority, () => true),
    );
  }

  #refusal(votes: readonly (NodeAnswer<Vote> | undefined)[], granted: number): Refusal {
    const errors = errorsOf(votes);
    if (this.#nodes.length - errors.length < this.#majority) {
      throw new AggregateError(errors, `${errors.length} of ${this.#nodes.length} nodes did not answer`);
    }
    const busy = votes.flatMap((vote) =>
      vote && 'value' in vote && !vote.value.answer.granted ? [vote.value.answer.remainingMs] : [],
    );
    const remainingMs = Math.max(-1, ...busy);
    // Votes were split, or nodes are not trusted yet: nobody will publish the moment to try again.
    if (granted > 0 || busy.length < this.#majority)
      return { granted: false, remainingMs, settleMs: 10 + this.ports.random.next() * 40 };
    return { granted: false, remainingMs };
  }
}

function isRenewed(index: number) {
  return (answers: RenewAnswer[]): boolean => answers[index] === 'renewed';
}
