import { Client } from 'pg';
import { BareSql } from './bare-sql.js';
import type { Contender } from './contenders.js';
import { Crowd, type Block, type Told } from './crowd.js';
import { judge, type Judged } from './judge.js';
import { percentile } from './numbers.js';
import { commandsDuring } from './redis-commands.js';
import type { Instance } from './system.js';
import { tokenFor } from './tokens.js';

export interface Measured {
  perSecond: number;
  p50: number;
  p99: number;
  issued: number;
  refused: Record<string, number>;
  judged?: Judged;
}

/** One block after the other on a system that runs. Each has a coupon of its own, and is judged before it is a figure. */
export class Bench {
  private constructor(
    private readonly instances: Instance[],
    private readonly redisUrl: string,
    private readonly database: Client,
    private readonly crowd: Crowd,
    readonly bare: BareSql,
  ) {}

  static async open(instances: Instance[], servers: { couponDatabaseUrl: string; redisUrl: string }) {
    const urls = instances.map(({ url }) => url);
    const database = new Client({ connectionString: servers.couponDatabaseUrl });
    // What the server says while it stops is no news.
    database.on('error', () => undefined);
    await database.connect();
    const crowd = new Crowd(urls);
    const bench = new Bench(instances, servers.redisUrl, database, crowd, new BareSql(servers.couponDatabaseUrl));
    await crowd.introduce(await bench.newCoupon());
    await bench.books();
    return bench;
  }

  async measure({ name }: Contender, users: number, times: Pick<Block, 'warmUpMs' | 'measureMs'>): Promise<Measured> {
    const couponId = await this.newCoupon();
    const issues = name !== 'empty';
    const told = await this.crowd.run({ couponId, strategy: name, users, once: issues, ...times });
    const books = await this.books();
    return {
      perSecond: told.perSecond,
      p50: percentile(told.latenciesMs, 0.5),
      p99: percentile(told.latenciesMs, 0.99),
      issued: told.serials.size,
      refused: told.refused,
      ...(issues && { judged: await judge(this.database, couponId, told, books) }),
    };
  }

  /** Redis commands for each issue; counting them costs time, so nothing is measured meanwhile. */
  async commandsPerIssue({ name }: Contender, users: number, measureMs: number): Promise<number> {
    const couponId = await this.newCoupon();
    let told: Told | undefined;
    const commands = await commandsDuring(this.redisUrl, async () => {
      told = await this.crowd.run({ couponId, strategy: name, users, once: true, warmUpMs: 0, measureMs });
    });
    await this.books();
    return commands / told!.serials.size;
  }

  async bareOne(ms: number): Promise<number> {
    return this.bare.one(await this.newCoupon(), ms);
  }

  async bareMany(users: number, ms: number): Promise<number> {
    return this.bare.many(await this.newCoupon(), users, ms);
  }

  async close(): Promise<void> {
    await this.bare.close();
    await this.database.end();
  }

  private books() {
    return Promise.all(this.instances.map((instance) => instance.arrivals()));
  }

  /** One that does not run out. */
  private async newCoupon(): Promise<number> {
    const response = await fetch(`${this.instances[0]!.url}/v1/lab/reset`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokenFor('admin', 'admin')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ total: 10_000_000 }),
    });
    if (response.status !== 200) throw new Error(`no coupon: ${response.status} ${await response.text()}`);
    return ((await response.json()) as { id: number }).id;
  }
}
