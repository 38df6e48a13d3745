import { ConfigError } from '@firstcome/environment';
import type { Answer } from '@firstcome/http';
import { Database } from '@firstcome/postgres';
import { Inject, Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { CONFIG } from '../config.js';
import type { Config } from '../config.js';
import { CouponClient, isRefusal } from '../coupon.client.js';
import { CouponUseService } from '../coupon-use.service.js';
import { couponHalf, orderHalf } from './halves.js';
import { isPlaced } from './strategy.js';
import type { Coordination, CouponHold, CouponWish, Decide } from './strategy.js';

/**
 * Both services prepare, then both commit. The coupon's half is prepared first, since the order needs its discount; then the
 * order's, and COMMIT PREPARED of the order's half is the decision: with it come the order, its stock and points, the stored
 * answer, and the row by which the coupon's half is committed, by this request or by the recovery. Before it, all is undone.
 * Until it is ended each half keeps its locks, whatever becomes of this process (docs/adr/0008-two-phase-commit.md).
 */
@Injectable()
export class TwoPhase implements Coordination, OnModuleInit {
  readonly name = '2pc';

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly coupons: CouponClient,
    private readonly couponUses: CouponUseService,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.config.coordination !== this.name || (await this.database.canPrepare())) return;
    throw new ConfigError('order', [
      'COORDINATION is 2pc, but the order database takes no prepared transactions: set max_prepared_transactions of its PostgreSQL (64 is a good value) and restart that, or choose saga',
    ]);
  }

  async place(wish: CouponWish, decide: Decide): Promise<Answer> {
    const hold = await this.prepare(wish);
    let placed = false;
    let prepared: string | undefined;
    try {
      // A refusal has nothing to be agreed on: it is committed like any other answer.
      const prepareAs = (answer: Answer) => (prepared = isPlaced(answer) ? orderHalf(hold.orderId) : undefined);
      const answer = await decide(hold, (work, options) =>
        this.database.transaction(work, { ...options, prepareAs, commitPrepared: true }),
      );
      placed = isPlaced(answer);
      return answer;
    } finally {
      if (!placed) await this.couponUses.abandon({ ...hold, prepared });
      else await this.couponUses.settle(hold.orderId);
    }
  }

  private async prepare(wish: CouponWish): Promise<CouponHold> {
    const hold = await this.couponUses.begin(wish, this.name);
    if (hold.refusal) return hold;
    const { orderId } = hold;
    const { userCouponId, userId, subtotal, pay } = wish;
    try {
      const discount = await this.coupons.prepare(couponHalf(orderId), {
        userCouponId,
        orderId,
        userId,
        subtotal,
        pay,
      });
      return { ...hold, discount, used: pay };
    } catch (error) {
      if (isRefusal(error)) return { ...hold, refusal: error };
      await this.couponUses.abandon(hold);
      throw error;
    }
  }
}
