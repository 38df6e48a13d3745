import { availableParallelism } from 'node:os';
import type { Block, Measured, Times } from './block.js';
import { now, until } from './clock.js';
import { contenderNamed } from './contenders/index.js';
import { figuresOf, turnsOf, type BlockFigures } from './figures.js';
import type { Cell, Plan } from './plan.js';
import { PrivateRedis } from './redis.js';
import type { Counts } from './results.js';
import { Workers } from './workers.js';

/** In a block that counts, each waiter takes as many turns as come to this, and the uncontended one so many by itself. */
const countedTurns = 100;

/** One block after the other, each under a key of its own, in processes that are kept. */
export class Bench {
  readonly #workers = new Workers();
  #blocks = 0;

  private constructor(
    private readonly redis: PrivateRedis,
    private readonly plan: Plan,
    readonly redisVersion: string,
  ) {}

  static async open(plan: Plan): Promise<Bench> {
    const redis = await PrivateRedis.start();
    return new Bench(redis, plan, await redis.version());
  }

  async timed(contender: string, cell: Cell): Promise<BlockFigures> {
    const { plan } = this;
    const turns = cell.oneShot ? 1 : Infinity;
    await this.#open(contender, cell, turns);
    const startAt = now() + 20;
    const beginAt = startAt + (cell.oneShot ? 0 : plan.warmUpMs(cell.waiters));
    const times = { startAt, beginAt, endAt: beginAt + (cell.oneShot ? plan.burstMs : plan.measureMs) };
    const measuring = this.#workers.go(times, cell.processes);
    const [measured, cpuMs] = await Promise.all([measuring, this.#cpuDuring(times, measuring)]);
    await this.#workers.close(cell.processes);
    return figuresOf(measured, times, cpuMs);
  }

  async counted(contender: string, cell: Cell): Promise<Counts> {
    await this.#open(contender, cell, Math.ceil(countedTurns / cell.waiters));
    const counting = await this.redis.countCommands();
    try {
      const before = await this.redis.connections();
      // Alone, everybody has all turns in the end; who waits may have to wait for ever.
      const capMs = cell.waiters === 1 ? 30_000 : this.plan.countMs;
      const startAt = now() + 20;
      const times = { startAt, beginAt: startAt, endAt: startAt + capMs };
      const measuring = this.#workers.go(times, cell.processes);
      // Also those that are opened only when somebody waits.
      const during = until(startAt + 30).then(() => this.redis.connections());
      const [measured, connections] = await Promise.all([measuring, during]);
      // Before they close: taking leave is no part of a turn.
      const commands = await counting.read();
      await this.#workers.close(cell.processes);
      return { turns: turnsOf(measured).length, commands, connections: Math.max(before, connections) };
    } finally {
      counting.stop();
    }
  }

  async close(): Promise<void> {
    this.#workers.stop();
    await this.redis.stop();
  }

  /** About how long a block takes: the first guess of the time left. */
  static guessMs(cell: Cell, plan: Plan): number {
    const tooMany = Math.max(1, cell.processes / availableParallelism());
    return 150 * tooMany + (cell.oneShot ? plan.burstMs / 4 : plan.warmUpMs(cell.waiters) + plan.measureMs);
  }

  async #open(contender: string, cell: Cell, turns: number): Promise<void> {
    this.#blocks += 1;
    const block: Block = {
      port: this.redis.port,
      key: `bench:${this.#blocks}`,
      contender,
      waiters: Math.ceil(cell.waiters / cell.processes),
      turns,
      holdMs: cell.holdMs,
      youthMs: this.plan.youthMs,
    };
    await this.#workers.open(Array.from({ length: cell.processes }, () => block));
    const { listeners } = contenderNamed(contender);
    await this.redis.settled(listeners === undefined ? undefined : listeners * cell.processes);
  }

  /** Of the server, while the block is measured. */
  async #cpuDuring(times: Times, measuring: Promise<Measured[]>): Promise<number> {
    await until(times.beginAt);
    const before = await this.redis.cpuMs();
    // A burst may be over long before its end; a block that fails is told by the one that waits for it.
    await Promise.race([until(times.endAt), measuring.catch(() => undefined)]);
    return (await this.redis.cpuMs()) - before;
  }
}
