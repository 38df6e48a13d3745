import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { quiet } from '../lock/support/baseline.js';
import { judge } from '../lock/support/journal.js';
import { Ledger } from '../lock/support/ledger.js';
import { redisServerMissing, startRedisServer, type RedisServer } from '../lock/support/redis-server.js';
import { now, sleep } from '../lock/support/waiting.js';
import { furtherHolds, Workers } from '../lock/support/workers.js';

const ttlMs = 600;
const recheckMs = 300;
const options = { ttlMs, recheckMs, waitMs: 8000 };
/** Two cores, shared: how late a timer and a process may be before the promise itself is in doubt. */
const slackMs = 500;

describe.skipIf(redisServerMissing)('a holder that comes to harm', () => {
  let server: RedisServer;
  let resource: RedisServer;
  let ledger: Ledger;
  const workers = new Workers();
  const connection = () => ({ port: server.port });

  beforeAll(async () => {
    [server, resource] = await Promise.all([startRedisServer(), startRedisServer()]);
    ledger = new Ledger(resource.port);
  });

  afterEach(async () => {
    await workers.rest();
    await quiet(server.port);
  });

  afterAll(async () => {
    await workers.stop();
    ledger.close();
    await Promise.all([server.stop(), resource.stop()]);
  });

  it('killed, is followed by the next waiter within TTL and one recheck', async () => {
    const [holder, waiter] = await workers.startAll(2, connection());
    await holder!.ask('acquire', { key: 'killed', options });
    const next = waiter!.ask('acquire', { key: 'killed', options });
    await sleep(ttlMs * 1.5);
    // Not the TTL of the first grant: it was renewed by now, or the waiter would have it.
    expect(await Promise.race([next, Promise.resolve('still waiting')])).toBe('still waiting');
    const killedAt = now();
    await holder!.kill();
    const { grantedAt } = await next;
    expect(grantedAt - killedAt).toBeLessThan(ttlMs + recheckMs + slackMs);
  });

  it('killed with 50 waiters of its own, costs the other process one TTL and not fifty', async () => {
    const [holder, other] = await workers.startAll(2, connection());
    await holder!.ask('acquire', { key: 'crowd', options });
    await holder!.ask('startWork', { keys: ['crowd'], lanes: 50, options });
    const next = other!.ask('acquire', { key: 'crowd', options });
    const killedAt = now();
    await holder!.kill();
    expect((await next).grantedAt - killedAt).toBeLessThan(ttlMs + recheckMs + slackMs);
  });

  describe.each([
    { name: 'stopped past its TTL', strike: 'stop', found: undefined },
    // Asked in the very turn that blocked: no timer can have run.
    { name: 'blocked in its event loop for three TTLs', strike: 'block', found: { held: false, aborted: true } },
  ] as const)('$name', ({ strike, found: expected }) => {
    /** Both read, the second writes while the first is out, the first writes what it still believes. */
    const race = async (key: string, guarded: boolean) => {
      const [first, second] = await workers.startAll(2, connection());
      const order = (lease: number) => ({ lease, ledgerPort: resource.port, key, guarded });
      const one = await first!.ask('acquire', { key, options });
      await first!.ask('read', order(one.lease));
      const waiting = second!.ask('acquire', { key, options });
      const struckAt = now();
      const blocked = strike === 'block' ? first!.ask('blockLoop', { lease: one.lease, ms: 3 * ttlMs }) : undefined;
      if (strike === 'stop') first!.pause();
      const two = await waiting;
      const value = await second!.ask('read', order(two.lease));
      const written = await second!.ask('write', { ...order(two.lease), value: value + 1 });
      // Asked while it is out: this is the first thing it does when it comes round.
      const late = first!.ask('write', { ...order(one.lease), value: 1 });
      if (strike === 'stop') {
        await sleep(Math.max(0, struckAt + 3 * ttlMs - now()));
        first!.resume();
      }
      const found = await blocked;
      const answer = await late;
      const released = await first!.ask('release', { lease: one.lease });
      const secondHeld = await second!.ask('held', { lease: two.lease });
      await second!.ask('release', { lease: two.lease });
      return { one, two, written, found, late: answer, released, secondHeld, waitedMs: two.grantedAt - struckAt };
    };

    it('is overtaken, finds its lease lost by its own clock, and the guard refuses what it writes all the same', async () => {
      const { one, two, written, found, late, released, secondHeld, waitedMs } = await race(`${strike}:guarded`, true);
      expect(waitedMs).toBeLessThan(ttlMs + recheckMs + slackMs);
      expect(two.fence).toBeGreaterThan(one.fence);
      expect(written).toEqual({ held: true, accepted: true });
      expect(found).toEqual(expected);
      expect(late).toEqual({ held: false, accepted: false });
      expect([released, secondHeld]).toEqual(['lost', true]);
      expect(await ledger.audit(`${strike}:guarded`)).toEqual({ value: 1, writes: 1, lost: 0 });
    });

    it('without a guard would have overwritten the other: the control', async () => {
      const { late } = await race(`${strike}:bare`, false);
      expect(late).toEqual({ held: false, accepted: true });
      expect(await ledger.audit(`${strike}:bare`)).toEqual({ value: 1, writes: 2, lost: 1 });
    });
  });

  it('among four busy processes, stopped and continued at random, nobody overlaps and no update is lost', async () => {
    const all = await workers.startAll(4, connection());
    const work = { keys: ['storm:1', 'storm:2'], lanes: 3, holdMs: 5, ledgerPort: resource.port, options };
    await Promise.all(all.map((worker) => worker.ask('startWork', work)));
    for (const worker of all.slice(0, 3)) {
      await furtherHolds([worker], 5);
      worker.pause();
      await sleep(ttlMs * 1.5);
      worker.resume();
    }
    await furtherHolds(all, 5);
    const reports = await Promise.all(all.map((worker) => worker.ask('stopWork')));
    const entries = reports.flatMap((report) => report.entries);
    const judged = judge(entries);
    expect({ overlaps: judged.overlaps, inversions: judged.inversions }).toEqual({ overlaps: [], inversions: [] });
    const harmed = entries.filter(({ outcome }) => outcome === 'lost' || outcome === 'stale').length;
    expect(harmed, 'not exercised: no holder was caught by its stop').toBeGreaterThan(0);
    for (const key of work.keys) {
      const { value, writes, lost } = await ledger.audit(key);
      expect(lost).toBe(0);
      expect(writes).toBe(value);
      expect(value).toBeGreaterThan(20);
    }
  });
});
