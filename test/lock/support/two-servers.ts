import { createLocks, type Locks, type LocksOptions, type StoreFactory } from '@firstcome/lock';
import type { RedisPort } from '../../../libs/lock/src/stores/redis/port.js';
import { redisPortStore } from '../../../libs/lock/src/stores/redis/redis-store.js';
import { redlockOf } from '../../../libs/lock/src/stores/redlock/redlock-store.js';
import { ManualClock } from '../../../libs/lock/src/testing/manual-clock.js';
import { Chance } from '../../../libs/lock/src/testing/simulation/chance.js';
import type { Reply } from '../../../libs/lock/src/testing/simulation/redis-server.js';
import { VirtualRedis } from './virtual-redis.js';

export type ServerName = 'A' | 'B';

interface Moment {
  second: string;
  server: ServerName;
  what: string;
}

/** When it happened, and what it was to server A and to server B. */
export type Row = [second: string, a: string, b: string];

/**
 * Two servers and their Redis in virtual time: the library as it is and its real Lua on the simulation's Redis, without a
 * network in between, and with chance at its mean. What each server does is written down as it happens.
 */
export class TwoServers {
  readonly clock = new ManualClock();
  readonly commands: Record<ServerName, number> = { A: 0, B: 0 };
  #beginning = this.clock.now();
  #moments: Moment[] = [];
  readonly #nodes: VirtualRedis[];
  readonly #clients: Locks[] = [];
  readonly #tokens = new Chance(1);

  constructor(nodes = 1) {
    this.#nodes = Array.from({ length: nodes }, () => new VirtualRedis(this.clock));
  }

  options(server: ServerName, defaults?: LocksOptions['defaults']): LocksOptions {
    const stores: StoreFactory[] = this.#nodes.map((node) => redisPortStore(this.#port(node, server)));
    return {
      store: stores.length === 1 ? stores[0]! : redlockOf(stores),
      clock: this.clock,
      random: { next: () => 0.5, token: () => this.#tokens.token() },
      defaults,
    };
  }

  start(server: ServerName, defaults?: LocksOptions['defaults']): Locks {
    const locks = createLocks(this.options(server, defaults));
    this.#clients.push(locks);
    return locks;
  }

  /** From here on it counts: both servers are up and listen. */
  async begin(): Promise<void> {
    await this.clock.advance(100);
    this.#beginning = this.clock.now();
    this.#moments = [];
    this.commands.A = 0;
    this.commands.B = 0;
  }

  /** What a server's body does is the test's to tell. */
  tell(server: ServerName, what: string): void {
    const second = ((this.clock.now() - this.#beginning) / 1000).toFixed(2);
    this.#moments.push({ second, server, what });
  }

  work(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.setTimeout(resolve, ms));
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((locks) => locks.close()));
  }

  /** One row a moment; three and more of the same in a row are one, with their number. */
  get rows(): Row[] {
    const seconds = [...new Set(this.#moments.map(({ second }) => second))];
    const rows = seconds.map((second): Row => [second, this.#cell(second, 'A'), this.#cell(second, 'B')]);
    const shown: Row[] = [];
    for (let at = 0; at < rows.length;) {
      const [second, a, b] = rows[at]!;
      const end = rows.findIndex((row, index) => index > at && (row[1] !== a || row[2] !== b));
      const count = (end < 0 ? rows.length : end) - at;
      if (count < 3) shown.push([second, a, b]);
      else {
        const times = (cell: string) => (cell === '' ? '' : `${cell}, ${count} times`);
        shown.push([`${second} to ${rows[at + count - 1]![0]}`, times(a), times(b)]);
      }
      at += count < 3 ? 1 : count;
    }
    return shown;
  }

  #cell(second: string, server: ServerName): string {
    const all = this.#moments.filter((moment) => moment.second === second && moment.server === server);
    const counts = new Map<string, number>();
    for (const { what } of all) counts.set(what, (counts.get(what) ?? 0) + 1);
    return [...counts].map(([what, count]) => (count > 1 ? `${what} (${count} x)` : what)).join('; ');
  }

  #port(node: VirtualRedis, server: ServerName): RedisPort {
    return node.port((script, reply) => {
      this.commands[server] += 1;
      this.tell(server, described(script, reply));
    });
  }
}

/** A script and its answer, in the words of the document. */
function described(script: string, reply: Reply): string {
  const answer = Array.isArray(reply) ? reply.map(Number) : [];
  if (script === 'acquire') return answer[0] === 1 ? '`acquire`: granted' : '`acquire`: busy';
  if (script === 'queue-join') {
    if (answer[0] === 1) return '`queue-join`: granted';
    return answer[3] === 1 ? `\`queue-join\`: lines up, place ${answer[2]}` : `\`queue-join\`: place ${answer[2]}`;
  }
  if (script === 'release') return Number(reply) > 0 ? '`release`' : '`release`: nothing held';
  return `\`${script}\``;
}
