import { httpErrors, idempotency, keyId, uuidv7 } from '@firstcome/http';
import type { ProblemError } from '@firstcome/http';
import { Database } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable, Logger } from '@nestjs/common';
import { couponHalf, orderHalf, orderOfHalf } from './coordination/halves.js';
import type { CoordinationName, CouponHold, CouponWish } from './coordination/strategy.js';
import { CouponClient, isRefusal } from './coupon.client.js';
import { CouponUseRepository } from './coupon-use.repository.js';
import type { CouponUse, CouponUseState, NewCouponUse } from './coupon-use.repository.js';
import { EventRepository } from './event.repository.js';
import { optionErrors } from './option.errors.js';
import { orderErrors } from './order.errors.js';
import { OrderRepository } from './order.repository.js';

// After this an attempt is undone. A saga's is dead by then: longer than a request lives (10 s for a turn, 5 s for the
// transaction, 2 s for the coupon service). A prepared one holds locks, so it is undone sooner, also one that still lives: it
// finds that and says so.
const attemptMs: Record<CoordinationName, number> = { saga: 30_000, '2pc': 10_000 };
// The request itself does what its transaction has decided, right after it; the job takes over what is left.
const stepMs = 3_000;
// A transaction has 5 s, its second phase included: who has not committed its half by then never will.
const halfMs = 6_000;
const live: CouponUseState[] = ['RESERVED', 'CONFIRMING', 'CONFIRMED'];

/**
 * RESERVING -> RESERVED -> CONFIRMING -> CONFIRMED, and from everywhere -> RELEASING -> RELEASED. The order's transaction
 * moves the use together with the order; whoever finds it CONFIRMING or RELEASING asks the coupon service, which answers
 * the same however often it is asked. What nobody brings to an end in time, the recovery job does.
 *
 * Under 2pc the row says besides what is to become of the coupon's half, while there is one: PREPARING, until the order's
 * transaction moves it to COMMITTING or whoever gives up to ABORTING. One row, so only one of them can.
 */
@Injectable()
export class CouponUseService {
  private readonly logger = new Logger('CouponUse');

  constructor(
    private readonly database: Database,
    private readonly uses: CouponUseRepository,
    private readonly coupons: CouponClient,
    private readonly orders: OrderRepository,
    private readonly events: EventRepository,
  ) {}

  /** Before the coupon service is asked for anything: without this row nobody would know what to take back. */
  async begin({ userCouponId, userId, subtotal, request }: CouponWish, way: CoordinationName): Promise<CouponHold> {
    const orderId = uuidv7();
    const requestId = keyId(request);
    const use = { orderId, userCouponId, userId, requestId, twoPhase: way === '2pc' };
    // Both or none: a key in progress that no row accounts for would never be free again.
    const begun = await this.database.transaction(async (tx) => {
      if (!(await this.uses.begin(tx, use, attemptMs[way]))) return false;
      await idempotency.begin(tx, request);
      return true;
    });
    const hold = { orderId, userCouponId, subtotal, discount: 0, begun };
    return begun ? hold : { ...hold, refusal: await this.refusal(use) };
  }

  /** In the order's transaction: the reservation is the order's, or the recovery has just taken it back. */
  async keep(tx: Transaction, orderId: string): Promise<void> {
    if (!(await this.uses.move(tx, orderId, ['RESERVING'], 'RESERVED', stepMs))) throw optionErrors.CONCURRENT_UPDATE();
  }

  /** In the transaction that pays the order. */
  async confirm(tx: Transaction, orderId: string): Promise<void> {
    if (!(await this.uses.move(tx, orderId, ['RESERVED'], 'CONFIRMING', stepMs)))
      throw new Error(`order ${orderId} has a coupon that is not reserved for it`);
  }

  /** In that transaction too, where the coupon's half was prepared as used. */
  async confirmed(tx: Transaction, orderId: string): Promise<void> {
    const use = await this.uses.move(tx, orderId, ['CONFIRMING'], 'CONFIRMED', stepMs);
    if (!use) throw new Error(`order ${orderId} has a coupon that is not paid with it`);
    await this.events.append(tx, orderId, [{ type: 'CouponConfirmed', data: { userCouponId: use.userCouponId } }]);
  }

  /** In the transaction that ends the order. */
  async release(tx: Transaction, orderId: string): Promise<void> {
    if (!(await this.uses.move(tx, orderId, live, 'RELEASING', stepMs)))
      throw new Error(`order ${orderId} has a coupon that is not with it`);
  }

  /** No order came of it. Nothing happens where one did: then the use is RESERVING no more. */
  async abandon({ orderId, begun, refusal, prepared }: Abandoned): Promise<void> {
    if (!begun) return;
    await this.quietly(orderId, async () => {
      // Prepared and not committed, as far as anybody knows: from here on it is not to be.
      if (prepared) await this.database.rollbackPrepared(prepared);
      // Who was refused has nothing to give back.
      if (refusal) return this.finished(orderId, 'RESERVING', 'RELEASED');
      const use = await this.uses.move(this.database, orderId, ['RESERVING'], 'RELEASING', stepMs);
      if (use) await this.finish(use);
    });
  }

  /** After a commit: asks the coupon service for what the transaction has decided. What fails here, the job does later. */
  async settle(orderId: string): Promise<void> {
    await this.quietly(orderId, async () => {
      const use = await this.uses.find(orderId);
      if (use) await this.finish(use);
    });
  }

  /** The work of the recovery: throws where the coupon service cannot be asked. */
  async recover(use: CouponUse): Promise<void> {
    if (use.state !== 'RESERVING') return this.finish(use);
    if (use.twoPhase) await this.database.rollbackPrepared(orderHalf(use.orderId));
    const abandoned = await this.uses.move(this.database, use.orderId, ['RESERVING'], 'RELEASING', stepMs);
    if (abandoned) await this.finish(abandoned);
  }

  /** Orders that were prepared and never decided: nobody will, and meanwhile nobody else gets at their stock. */
  async dropStaleHalves(): Promise<void> {
    for (const gid of await this.database.preparedTransactions(halfMs)) {
      const orderId = orderOfHalf(gid);
      if (orderId === undefined) continue;
      // One that cannot be ended now does not keep the others.
      await this.quietly(orderId, async () => {
        if (!(await this.database.rollbackPrepared(gid))) return;
        this.logger.warn(`Order ${orderId} was prepared and not decided for ${halfMs} ms: it is rolled back`);
        await this.uses.postpone(orderId, 0);
      });
    }
  }

  /** In a live order of this user it is not usable, which our own rows know. While it moves, nobody knows: throws. */
  private async refusal(use: NewCouponUse): Promise<ProblemError> {
    const open = await this.uses.open(use);
    if (open.some(({ state }) => live.includes(state))) return orderErrors.COUPON_NOT_USABLE();
    if (open.some(({ state, same }) => state === 'RESERVING' && same)) throw httpErrors.IDEMPOTENCY_IN_PROGRESS();
    throw optionErrors.CONCURRENT_UPDATE({
      detail: 'Another order with this coupon is being placed or ended at this moment. Repeat the request.',
    });
  }

  private async finish({ orderId, userCouponId, state, twoPhase }: CouponUse): Promise<void> {
    if (twoPhase === 'COMMITTING') {
      await this.coupons.commit(couponHalf(orderId));
      await this.uses.committed(orderId);
    }
    if (state === 'CONFIRMING') {
      await this.coupons.confirm(userCouponId, orderId);
      await this.finished(orderId, 'CONFIRMING', 'CONFIRMED');
    }
    if (state === 'RELEASING') {
      if (twoPhase === 'ABORTING') await this.coupons.rollback(couponHalf(orderId));
      else await this.coupons.release(userCouponId, orderId).catch(unlessAbsent);
      await this.finished(orderId, 'RELEASING', 'RELEASED');
    }
  }

  /** Once, and with its event, where there is an order to tell it of. The order's row comes first, as everywhere. */
  private finished(orderId: string, from: CouponUseState, to: 'CONFIRMED' | 'RELEASED'): Promise<void> {
    return this.database.transaction(async (tx) => {
      const order = await this.orders.lock(tx, orderId);
      const use = await this.uses.move(tx, orderId, [from], to, stepMs);
      // Where nothing was decided the key is free for another try; an answer stays.
      if (use && to === 'RELEASED') await idempotency.giveUp(tx, use.requestId);
      const type = to === 'CONFIRMED' ? 'CouponConfirmed' : 'CouponReleased';
      if (order && use) await this.events.append(tx, orderId, [{ type, data: { userCouponId: use.userCouponId } }]);
    });
  }

  private async quietly(orderId: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error: Error) =>
      this.logger.warn(`The coupon of order ${orderId} is left to the recovery: ${error.message}`),
    );
  }
}

type Abandoned = Pick<CouponHold, 'orderId' | 'begun' | 'refusal'> & {
  /** Under which name the order's half was prepared, or was about to be. */
  prepared?: string;
};

/** A user coupon that is not there has nothing to release. */
function unlessAbsent(error: unknown): void {
  if (!isRefusal(error)) throw error;
}
