import { createHash } from 'node:crypto';
import { httpErrors, ProblemError, uuidv7 } from '@firstcome/http';
import type { IdempotentRequest } from '@firstcome/http';
import { Database } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable, Logger } from '@nestjs/common';
import { CouponClient } from './coupon.client.js';
import { CouponUseRepository } from './coupon-use.repository.js';
import type { CouponUse, CouponUseState, NewCouponUse } from './coupon-use.repository.js';
import { EventRepository } from './event.repository.js';
import { optionErrors } from './option.errors.js';
import { orderErrors } from './order.errors.js';
import { OrderRepository } from './order.repository.js';

/** What the coupon service said before the order's own transaction begins. */
export interface CouponHold {
  orderId: string;
  userCouponId: string;
  subtotal: number;
  discount: number;
  /** Final: decided, and stored under the request's key, in the order's transaction. */
  refusal?: ProblemError;
}

// Longer than a request lives (10 s for a turn, 5 s for the transaction, 2 s for the coupon service): then it is dead.
const attemptMs = 30_000;
// The request itself does what its transaction has decided, right after it; the job takes over what is left.
const stepMs = 3_000;
const live: CouponUseState[] = ['RESERVED', 'CONFIRMING', 'CONFIRMED'];

/**
 * RESERVING -> RESERVED -> CONFIRMING -> CONFIRMED, and from everywhere -> RELEASING -> RELEASED. The order's transaction
 * moves the use together with the order; whoever finds it CONFIRMING or RELEASING asks the coupon service, which answers
 * the same however often it is asked. What nobody brings to an end in time, the recovery job does.
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

  /** Before the order's transaction. Throws only what is worth repeating: a refusal is part of the answer. */
  async reserve(
    userCouponId: string,
    userId: string,
    subtotal: number,
    request: IdempotentRequest,
  ): Promise<CouponHold> {
    const orderId = uuidv7();
    const requestId = createHash('sha256').update(`${request.scope}\0${request.key}`).digest();
    const use = { orderId, userCouponId, userId, requestId };
    const hold = { orderId, userCouponId, subtotal };
    if (!(await this.uses.begin(use, attemptMs))) return { ...hold, discount: 0, refusal: await this.refusal(use) };
    try {
      const discount = await this.coupons.reserve(userCouponId, { orderId, userId, subtotal });
      return { ...hold, discount };
    } catch (error) {
      if (error instanceof ProblemError && !error.problem.retryable) return { ...hold, discount: 0, refusal: error };
      await this.abandon({ orderId });
      throw error;
    }
  }

  /** In the order's transaction: the reservation is the order's, or the recovery has just taken it back. */
  async keep(tx: Transaction, orderId: string): Promise<void> {
    if (!(await this.uses.move(tx, orderId, ['RESERVING'], 'RESERVED', attemptMs)))
      throw optionErrors.CONCURRENT_UPDATE();
  }

  /** In the transaction that pays the order. */
  async confirm(tx: Transaction, orderId: string): Promise<void> {
    if (!(await this.uses.move(tx, orderId, ['RESERVED'], 'CONFIRMING', stepMs)))
      throw new Error(`order ${orderId} has a coupon that is not reserved for it`);
  }

  /** In the transaction that ends the order. */
  async release(tx: Transaction, orderId: string): Promise<void> {
    if (!(await this.uses.move(tx, orderId, live, 'RELEASING', stepMs)))
      throw new Error(`order ${orderId} has a coupon that is not with it`);
  }

  /** No order came of it. Nothing happens where one did: then the use is RESERVING no more. */
  async abandon({ orderId, refusal }: Pick<CouponHold, 'orderId' | 'refusal'>): Promise<void> {
    await this.quietly(orderId, async () => {
      // Who was refused has nothing to give back.
      const to = refusal ? 'RELEASED' : 'RELEASING';
      const use = await this.uses.move(this.database, orderId, ['RESERVING'], to, stepMs);
      if (use && !refusal) await this.finish(use);
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
    const abandoned = await this.uses.move(this.database, use.orderId, ['RESERVING'], 'RELEASING', stepMs);
    if (abandoned) await this.finish(abandoned);
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

  private async finish({ orderId, userCouponId, state }: CouponUse): Promise<void> {
    if (state === 'CONFIRMING') {
      await this.coupons.confirm(userCouponId, orderId);
      await this.finished(orderId, 'CONFIRMING', 'CONFIRMED');
    }
    if (state === 'RELEASING') {
      await this.coupons.release(userCouponId, orderId).catch(unlessAbsent);
      await this.finished(orderId, 'RELEASING', 'RELEASED');
    }
  }

  /** Once, and with its event, where there is an order to tell it of. The order's row comes first, as everywhere. */
  private finished(orderId: string, from: CouponUseState, to: 'CONFIRMED' | 'RELEASED'): Promise<void> {
    return this.database.transaction(async (tx) => {
      const order = await this.orders.lock(tx, orderId);
      const use = await this.uses.move(tx, orderId, [from], to, stepMs);
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

/** A user coupon that is not there has nothing to release. */
function unlessAbsent(error: unknown): void {
  if (!(error instanceof ProblemError) || error.problem.retryable) throw error;
}
