import type { LockStore, StorePorts } from '../store.js';

/** Every node bears the mark of when it was first seen. A node without it, or with a new one, has lost its memory. */
const markKey = 'redlock:node';
/** Nodes that were first seen together were marked within this of each other. */
const togetherMs = 1000;

export interface Mark {
  node: RedlockNode;
  /** How long ago the node was marked, by its own clock. */
  ageMs: number;
  /** This process has seen an older mark on the node. */
  changed: boolean;
}

/** One of the independent servers, with what is known of its memory. */
export class RedlockNode {
  #seen?: number;

  constructor(
    readonly store: LockStore,
    private readonly ports: StorePorts,
  ) {}

  /** Sent behind a request on the same connection: whatever wiped the node before that request shows here. */
  async mark(): Promise<Mark> {
    let marked = await this.store.inspect(markKey);
    if (marked.fence === 0) {
      const token = this.ports.random.token();
      // Busy or not, somebody draws the first fence: the node's time in microseconds. It is never drawn again.
      await this.store.acquire({ keys: [markKey], token, ttlMs: 1000, fences: 1, onLateGrant: () => undefined });
      await this.store.release([markKey], token);
      marked = await this.store.inspect(markKey);
    }
    // Two processes may mark a new node one after the other: that is not a change.
    const changed = this.#seen !== undefined && marked.fence - this.#seen > togetherMs * 1000;
    this.#seen ??= marked.fence;
    return { node: this, ageMs: marked.storeTimeMs - marked.fence / 1000, changed };
  }
}

/**
 * The nodes that came back empty within the longest TTL: a lock may have been on them that they have forgotten, so they
 * must not help anybody to a majority. Where all marks are equally young the nodes are new, and there is nothing to forget.
 */
export function cameBackEmpty(marks: readonly Mark[], maxTtlMs: number): Set<RedlockNode> {
  const oldest = Math.max(...marks.map(({ ageMs }) => ageMs));
  const suspects = marks.filter(({ ageMs, changed }) => ageMs < maxTtlMs && (changed || oldest - ageMs > togetherMs));
  return new Set(suspects.map(({ node }) => node));
}
