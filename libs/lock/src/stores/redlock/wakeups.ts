import type { Wakeups, Watch } from '../store.js';

/** A release is published by every node it reaches; the time to look has come when a majority has said so. */
export class QuorumWakeups implements Wakeups {
  constructor(
    private readonly nodes: readonly Wakeups[],
    private readonly majority: number,
  ) {}

  start(): void {
    for (const node of this.nodes) node.start();
  }

  watch(keys: readonly string[], token: string, wake: () => void): Watch {
    const heard = new Set<number>();
    const watches = this.nodes.map((node, index) =>
      node.watch(keys, token, () => {
        heard.add(index);
        if (heard.size < this.majority) return;
        heard.clear();
        wake();
      }),
    );
    const { majority } = this;
    return {
      listen: () => {
        for (const watch of watches) watch.listen();
      },
      get live() {
        return watches.filter(({ live }) => live).length >= majority;
      },
      close: () => {
        for (const watch of watches) watch.close();
      },
    };
  }
}
