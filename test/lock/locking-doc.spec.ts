import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { DynamicModule } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import { LockWaitTimeoutError, type Lease, type LockOptions } from '@firstcome/lock';
import { LockModule } from '@firstcome/lock/nest';
import { Desk } from './examples/desk.js';
import { Issuing } from './examples/issuing.js';
import { Orders } from './examples/orders.js';
import { OrdersByHand } from './examples/orders-by-hand.js';
import { ReportJob } from './examples/report-job.js';
import { testRedisUrl } from '../support/servers.js';
import { TwoServers, type Row, type ServerName } from './support/two-servers.js';

const documents = ['docs/locking.md', 'libs/lock/README.md'].map((path) => readFileSync(path, 'utf8'));
const locking = documents[0]!;

/** The cells of the first table after a marker `<!-- timeline: name -->`. */
function documented(name: string): string {
  const [, after = ''] = locking.split(`<!-- timeline: ${name} -->\n`);
  const lines = after.trimStart().split('\n');
  const end = lines.findIndex((line) => !line.startsWith('|'));
  const cells = (line: string) => line.split('|').slice(1, -1);
  return text(lines.slice(2, end).map((line) => cells(line).map((cell) => cell.trim())));
}

/** As text, so that a failure shows what to paste. */
const text = (rows: readonly (readonly (string | number)[])[]): string => rows.map((row) => row.join(' | ')).join('\n');

/** A holds for 5.5 s under a TTL of 5 s; B, who comes just after, waits, and works for half a second. */
async function oneAfterTheOther(strategy: NonNullable<LockOptions['strategy']>, nodes = 1) {
  const servers = new TwoServers(nodes);
  const clients = { A: servers.start('A', { strategy }), B: servers.start('B', { strategy }) };
  await servers.begin();
  const turn = (name: ServerName, ms: number) =>
    clients[name].withLock('report:daily', async () => {
      servers.tell(name, 'begins');
      const beganAt = servers.clock.now();
      await servers.work(ms);
      servers.tell(name, 'ends');
      return { beganAt, endedAt: servers.clock.now() };
    });
  const first = turn('A', 5500);
  await servers.clock.advance(0);
  const second = turn('B', 500);
  await servers.clock.advance(7000);
  const [a, b] = await Promise.all([first, second]);
  await servers.close();
  return { servers, delayMs: b.beganAt - a.endedAt };
}

/** A desk whose work takes virtual time and is written into the rows of its server. */
class TimedDesk extends Desk {
  serial = 0;

  constructor(
    private readonly servers: TwoServers,
    private readonly server: ServerName,
  ) {
    super();
  }

  async placeOrder(user: string, product: string, lease: Lease): Promise<string> {
    await this.#work(`${user} orders ${product}`, 1500);
    return lease.key;
  }

  async writeReport(): Promise<void> {
    await this.#work('the report', 30_000);
  }

  async issueAll(_couponId: number, users: string[], lease: Lease): Promise<number[]> {
    await this.#work(users.join(', '), this.servers.clock.now() < 1200 ? 5500 : 500);
    lease.assertHeld();
    return users.map(() => (this.serial += 1));
  }

  async #work(what: string, ms: number): Promise<void> {
    this.servers.tell(this.server, `begins: ${what}`);
    await this.servers.work(ms);
    this.servers.tell(this.server, `ends: ${what}`);
  }
}

/** Without the commands: what the users of the two servers see. */
function seen(rows: Row[]): Row[] {
  const shown = (cell: string) =>
    cell
      .split('; ')
      .filter((part) => !part.startsWith('`'))
      .join('; ');
  return rows.map(([second, a, b]): Row => [second, shown(a), shown(b)]).filter(([, a, b]) => a !== '' || b !== '');
}

async function nestApp(servers: TwoServers, name: ServerName) {
  const locks: DynamicModule = LockModule.forRoot(servers.options(name));
  const module = await Test.createTestingModule({
    imports: [locks],
    providers: [{ provide: Desk, useValue: new TimedDesk(servers, name) }, Orders, ReportJob],
  }).compile();
  return module.init();
}

describe('the timelines of docs/locking.md are what the library does', () => {
  it.each(['pubsub', 'spin', 'adaptive', 'queue'] as const)('%s', async (strategy) => {
    const { servers } = await oneAfterTheOther(strategy);
    expect(documented(strategy)).toBe(text(servers.rows));
  });

  it('the store redlock, with three servers', async () => {
    const { servers } = await oneAfterTheOther('pubsub', 3);
    expect(documented('redlock')).toBe(text(servers.rows));
  });

  it('the commands of the waiter and how long after the release it begins', async () => {
    const bill: (string | number)[][] = [];
    for (const strategy of ['pubsub', 'spin', 'adaptive', 'queue'] as const) {
      const { servers, delayMs } = await oneAfterTheOther(strategy);
      bill.push([`\`${strategy}\``, servers.commands.A, servers.commands.B, `${delayMs} ms`]);
    }
    const { servers, delayMs } = await oneAfterTheOther('pubsub', 3);
    bill.push(['`pubsub` on 3 x redlock', servers.commands.A, servers.commands.B, `${delayMs} ms`]);
    expect(documented('bill')).toBe(text(bill));
  });

  it('batch', async () => {
    const servers = new TwoServers();
    const names = ['A', 'B'] as const;
    const [a, b] = names.map((name) => new Issuing(servers.start(name), new TimedDesk(servers, name)));
    await servers.begin();
    const answers = [a!.issue(42, 'a1')];
    await servers.clock.advance(1000);
    answers.push(a!.issue(42, 'a2'), a!.issue(42, 'a3'), b!.issue(42, 'b1'), b!.issue(42, 'b2'));
    await servers.clock.advance(1000);
    answers.push(b!.issue(42, 'b3'));
    await servers.clock.advance(6000);
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 1, 2, 3]);
    await servers.close();
    expect(documented('batch')).toBe(text(servers.rows));
  });
});

describe.each(['obtain', '@DistributedLock'] as const)('one method, with %s', (way) => {
  async function twoShops() {
    const servers = new TwoServers();
    if (way === 'obtain') {
      const names = ['A', 'B'] as const;
      const orders = names.map((name) => new OrdersByHand(servers.start(name), new TimedDesk(servers, name)));
      return { servers, orders, close: () => servers.close() };
    }
    const apps = [await nestApp(servers, 'A'), await nestApp(servers, 'B')];
    const close = async () => void (await Promise.all(apps.map((app) => app.close())));
    return { servers, orders: apps.map((app) => app.get(Orders)), close };
  }

  it('the same key goes in turn, different keys in parallel, and a third gives up with its failure message', async () => {
    const { servers, orders, close } = await twoShops();
    const [a, b] = orders;
    await servers.begin();
    const placed = [a!.place('ann', 'pen'), a!.place('ann', 'cup'), b!.place('bob', 'pen')];
    await servers.clock.advance(500);
    placed.push(b!.place('ann', 'pen'));
    await servers.clock.advance(100);
    const third = b!.place('ann', 'pen').catch((error: unknown) => {
      servers.tell('B', `gives up: ${error instanceof LockWaitTimeoutError ? error.failureMessage : String(error)}`);
      return error;
    });
    await servers.clock.advance(5000);
    expect(await Promise.all(placed)).toEqual(
      ['ann:pen', 'ann:cup', 'bob:pen', 'ann:pen'].map((order) => `order:${order}`),
    );
    expect(await third).toMatchObject({ code: 'LOCK_TIMEOUT', key: 'order:ann:pen', waitedMs: 2000 });
    await close();
    expect(documented('orders')).toBe(text(seen(servers.rows)));
  });
});

describe('a scheduled job on two instances', () => {
  it('runs on one of them, and the other returns at once', async () => {
    const servers = new TwoServers();
    const apps = [await nestApp(servers, 'A'), await nestApp(servers, 'B')];
    await servers.begin();
    const runs = apps.map((app, index) => {
      const name: ServerName = index === 0 ? 'A' : 'B';
      return app
        .get(ReportJob)
        .run()
        .then((result: string | undefined) => (servers.tell(name, `returns ${result}`), result));
    });
    await servers.clock.advance(31_000);
    expect(await Promise.all(runs)).toEqual(['written', undefined]);
    await Promise.all(apps.map((app) => app.close()));
    expect(documented('job')).toBe(text(seen(servers.rows)));
  });
});

describe('the code in the documents', () => {
  const folder = 'test/lock/examples';
  const shown = documents.flatMap((document) => [
    ...document.matchAll(/<!-- (test\/lock\/examples\/[a-z-]+\.ts) -->\n+```ts\n([^]*?)```/g),
  ]);

  it('is the examples that compile and run, to the letter', () => {
    for (const [, path, code] of shown) expect(code, path).toBe(readFileSync(path!, 'utf8'));
  });

  it('begins with an example that runs as it stands', async () => {
    const args = ['--import', 'tsx', `${folder}/first.ts`, testRedisUrl()];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toMatch(/^mine, under fence \d+, for \d+ ms and renewed\n$/);
  });

  it('shows every example', () => {
    const names = readdirSync(folder).filter((name) => name !== 'desk.ts');
    const paths = shown.map(([, path]) => path!);
    expect(new Set(paths)).toEqual(new Set(names.map((name) => `${folder}/${name}`)));
  });
});
