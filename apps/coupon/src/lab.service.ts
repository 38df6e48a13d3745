import { Database, sql } from '@firstcome/postgres';
import { REDIS } from '@firstcome/redis';
import { Inject, Injectable } from '@nestjs/common';
import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';
import { couponErrors } from './coupon.errors.js';
import type { LabResetDto } from './coupon.dto.js';
import { CouponService } from './coupon.service.js';
import { invariants } from './invariants.js';
import type { CouponView } from './coupon.view.js';
import type { InvariantReport, InvariantResult, LockList } from './lab.view.js';

const lockCoupon = sql('lab-lock-coupon', 'select id from coupons where id = $1 for update');
const deleteUserCoupons = sql('lab-delete-user-coupons', 'delete from user_coupons where coupon_id = $1');
// Stored answers name user coupons that are gone now, and refusals that are no longer true.
const deleteAnswers = sql('lab-delete-answers', 'delete from idempotency_keys');
const emptyCoupon = sql(
  'lab-empty-coupon',
  `update coupons set issued = 0, total = $2, paused = false, starts_at = null, ends_at = null where id = $1`,
);

const shownBreaches = 10;

/** What a load run needs between two blocks. Only there with LAB=1. */
@Injectable()
export class LabService {
  constructor(
    private readonly database: Database,
    private readonly coupons: CouponService,
    @Inject(REDIS) private readonly redis: Redis | Cluster,
  ) {}

  /** Empties the named coupon, or makes a fresh one: a coupon of `total`, none issued. */
  async reset({ couponId, total }: LabResetDto): Promise<CouponView> {
    if (couponId === undefined) {
      return this.coupons.create({
        name: 'Lab',
        discount: { type: 'FIXED', value: 1000 },
        minOrder: 0,
        total,
        perUserLimit: 1,
      });
    }
    await this.database.transaction(async (tx) => {
      const [found] = await tx.query(lockCoupon, [couponId]);
      if (!found) throw couponErrors.COUPON_NOT_FOUND();
      await tx.query(deleteUserCoupons, [couponId]);
      await tx.query(deleteAnswers, []);
      await tx.query(emptyCoupon, [couponId, total]);
    });
    return this.coupons.find(couponId);
  }

  async checkInvariants(): Promise<InvariantReport> {
    const checked: InvariantResult[] = [];
    for (const { id, name, text } of invariants) {
      const breaches = await this.database.query<Record<string, unknown>>(sql(`invariant-${checked.length}`, text), []);
      checked.push({ id, name, breaches: breaches.length, examples: breaches.slice(0, shownBreaches) });
    }
    return { ok: checked.every(({ breaches }) => breaches === 0), invariants: checked };
  }

  /** The keys that are locked right now, and for how long unless they are renewed. */
  async locks(): Promise<LockList> {
    const nodes = this.redis instanceof Cluster ? this.redis.nodes('master') : [this.redis];
    const items: LockList['items'] = [];
    for (const node of nodes) {
      for await (const names of node.scanStream({ match: 'lock:*', type: 'string', count: 1000 }) as AsyncIterable<
        string[]
      >) {
        const held = names.filter((name) => !/^lock:(fence|queue|release):/.test(name));
        for (const name of held) {
          const remainingMs = await node.pttl(name);
          if (remainingMs > 0) items.push({ key: name.slice('lock:'.length), remainingMs });
        }
      }
    }
    return { items };
  }
}
