import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Answer, Block, Measured, Order, Times } from './block.js';

const program = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** The contender could not be opened, or its process died: its figures are missing, the others go on. */
export class ContenderFailed extends Error {}

/** The processes of a run, kept from block to block. A block goes to as many of them as it names, at once. */
export class Workers {
  #children: ChildProcess[] = [];

  async open(blocks: readonly Block[]): Promise<void> {
    while (this.#children.length < blocks.length) this.#fork();
    await this.#all(blocks.map((block) => ({ open: block })));
  }

  async go(times: Times, count: number): Promise<Measured[]> {
    const answers = await this.#all(Array.from({ length: count }, () => ({ go: times })));
    return answers.flatMap((answer) => ('measured' in answer ? [answer.measured] : []));
  }

  /** Processes with waiters that cannot be refused are ended; the next block gets new ones. */
  async close(count: number): Promise<void> {
    const answers = await this.#all(Array.from({ length: count }, () => ({ close: true as const })));
    const drained = answers.map((answer) => 'drained' in answer && answer.drained);
    this.#end(this.#children.filter((_child, index) => drained[index] === false));
  }

  stop(): void {
    this.#end(this.#children);
  }

  #fork(): void {
    const child = fork(program, { execArgv: ['--import', 'tsx'], serialization: 'advanced' });
    child.on('error', () => undefined);
    child.once('exit', () => {
      this.#children = this.#children.filter((each) => each !== child);
    });
    this.#children.push(child);
  }

  async #all(orders: readonly Order[]): Promise<Answer[]> {
    const used = this.#children.slice(0, orders.length);
    try {
      if (used.length < orders.length) throw new ContenderFailed('a process of it ended');
      return await Promise.all(orders.map((order, index) => ask(used[index]!, order)));
    } catch (error) {
      // One of them is in the middle of something: none is used again.
      this.#end(used);
      throw error;
    }
  }

  #end(ended: readonly ChildProcess[]): void {
    this.#children = this.#children.filter((child) => !ended.includes(child));
    for (const child of ended) child.kill('SIGKILL');
  }
}

async function ask(child: ChildProcess, order: Order): Promise<Answer> {
  const over = new AbortController();
  const answered = once(child, 'message', { signal: over.signal });
  const died = once(child, 'exit', { signal: over.signal }).then(([code, signal]) => {
    throw new ContenderFailed(`its process ended with ${String(code ?? signal)}`);
  });
  // Whichever comes second is of no interest.
  answered.catch(() => undefined);
  died.catch(() => undefined);
  try {
    child.send(order);
    const [answer] = (await Promise.race([answered, died])) as [Answer];
    if ('error' in answer) throw new ContenderFailed(answer.error);
    return answer;
  } finally {
    over.abort();
  }
}
