import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBlock } from '../../load/block.js';
import type { Bench } from '../../load/block.js';
import { findK6 } from '../../load/k6.js';
import type { K6 } from '../../load/k6.js';
import { roundOf } from '../../load/plan.js';
import { tryBlock } from '../../load/runner.js';
import { openStores } from '../../load/stores.js';
import { sweepPlans } from '../../load/sweep.js';
import { exitCodeOf } from '../../load/verdict.js';
import type { Judgement } from '../../load/verdict.js';
import { signToken } from '../../tools/tokens.mjs';
import { startCoupon, startOrder, testEnvironment } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { k6Environment } from '../support/programs.js';
import { testRedisUrl } from '../support/servers.js';
import { jwtSecret } from '../support/tokens.js';

let k6: K6 | undefined;
try {
  k6 = findK6(k6Environment());
} catch {
  console.warn('A block under the real k6 is not tried: no k6 here. npm run load says how to get it.');
}

// A fifth of what the smoke profile offers: these tests share their machine with others.
const gentle = 0.2;

describe.skipIf(!k6)('a block under the real k6', () => {
  const folder = mkdtempSync(join(tmpdir(), 'firstcome-block-'));
  let coupons: TestDatabase;
  let orders: TestDatabase;
  let apps: RunningApp[];
  let bench: Bench;

  beforeAll(async () => {
    coupons = await createTestDatabase();
    orders = await createTestDatabase();
    const coupon = { COUPON_DATABASE_URL: coupons.url };
    apps = [await startCoupon(coupon), await startCoupon(coupon)];
    apps.push(await startOrder({ ORDER_DATABASE_URL: orders.url, COUPON_URL: apps[0]!.url }));
    const system = {
      coupon: [apps[0]!.url, apps[1]!.url],
      order: [apps[2]!.url],
      couponDatabaseUrl: coupons.url,
      orderDatabaseUrl: orders.url,
      redisUrl: testRedisUrl(),
      redlockUrls: testEnvironment()['REDLOCK_URLS']!.split(','),
      adminToken: signToken({ sub: 'admin', role: 'admin' }, jwtSecret),
      tokenFor: (sub: string) => signToken({ sub }, jwtSecret),
      stop: async () => {},
    };
    bench = {
      system,
      stores: await openStores(system),
      k6: k6!,
      profile: 'smoke',
      commit: 'abc1234',
      runId: `test-${Date.now()}`,
      folder,
    };
  });
  afterAll(async () => {
    await bench?.stores.close();
    for (const app of apps ?? []) await app.close();
    await coupons?.drop();
    await orders?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('tried again is no copy of the first try: its users and keys are others', async () => {
    const [plan] = roundOf('order-hot-option', ['sorted'], 1, 1);
    for (const attempt of [1, 2]) {
      const earlier: Judgement[] = attempt === 1 ? [] : [{ verdict: 'refused', reasons: ['planted'] }];
      const { verdict, reasons, figures, ...kept } = await runBlock(bench, plan!, gentle, attempt, earlier);
      expect(kept.earlier ?? []).toEqual(earlier);
      expect(kept).toMatchObject({ commit: 'abc1234', cost: { redisServers: 1 } });
      expect(verdict, reasons.join('; ')).not.toBe('breach');
      expect(figures.outcomes).toMatchObject({ unexpected: 0 });
      expect(figures.outcomes.acknowledged).toBeGreaterThan(0);
    }
  });

  it('is exact when the sale was', async () => {
    const [plan] = roundOf('coupon-flash', ['atomic'], 1, 1);
    const refused = { verdict: 'refused', reasons: ['planted: of another sitting'] };
    writeFileSync(join(folder, `${plan!.id}.json`), JSON.stringify({ ...plan, ...refused }));
    const result = await tryBlock(bench, plan!, gentle);
    expect(result).toMatchObject({ verdict: 'exact', reasons: [] });
    expect(result.earlier?.[0]).toEqual(refused);
    expect(result.sold).toBe(result.supply);
    expect(result.supply).toBeGreaterThan(0);
    expect(result.figures.requests).toBe(result.k6.arrived);
    expect(exitCodeOf([result])).toBe(0);
  });

  it('is a breach, and its run exits with 1, when the database loses a coupon that was acknowledged', async () => {
    // One coupon goes to somebody else the moment it is stored: counters and serials stay right.
    await coupons.query(`
      create function lose() returns trigger language plpgsql as $$
      begin
        if new.serial = 2 then new.user_id := 'somebody else ' || new.serial; end if;
        return new;
      end $$`);
    await coupons.query('create trigger lose before insert on user_coupons for each row execute function lose()');
    const [plan] = roundOf('coupon-flash', ['atomic'], 2, 1);
    const result = await tryBlock(bench, plan!, gentle);
    await coupons.query('drop trigger lose on user_coupons');
    expect(result.verdict).toBe('breach');
    expect(result.reasons).toContain('I9: stored, and nobody was told so (1)');
    expect(exitCodeOf([result])).toBe(1);
  });

  it('with work in the critical section makes every issue last so long, and leaves nothing of it behind', async () => {
    const [plan] = sweepPlans(['atomic'], { holds: [50] }, { keys: 20, hold: 20 }, 1);
    const result = await tryBlock(bench, plan!, gentle);
    expect(result).toMatchObject({ verdict: 'exact', sweep: { keys: 1, holdMs: 50 } });
    expect(result.figures.serverTiming!.db.p50).toBeGreaterThanOrEqual(50);
    const left = await coupons.query(`select from pg_trigger where tgname like 'firstcome_load%'`);
    expect(left).toHaveLength(0);
  });

  it('over several coupons accounts for each of them', async () => {
    const [plan] = sweepPlans(['atomic'], { keys: [3] }, { keys: 30, hold: 20 }, 1);
    const result = await tryBlock(bench, plan!, gentle);
    expect(result.verdict).toBe('exact');
    expect(result.sold).toBe(result.figures.requests);
  });

  it('is a breach when an invariant of CONTRACT.md section 6 is broken in the rows', async () => {
    await coupons.query('alter table coupons drop constraint coupons_never_oversold');
    await coupons.query(`update coupons set issued = issued + 1 where id = (select min(id) from coupons)`);
    const [plan] = roundOf('coupon-flash', ['atomic'], 3, 1);
    const result = await tryBlock(bench, plan!, gentle);
    expect(result.verdict).toBe('breach');
    expect(result.reasons.join()).toContain('I1: coupon: issued = count of user coupons <= total (1)');
  });
});
