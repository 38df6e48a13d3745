import { idempotency } from '@firstcome/http';
import type { Answer, IdempotentRequest } from '@firstcome/http';
import { Database } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { closingErrors } from './closing.errors.js';
import { CouponUseService } from './coupon-use.service.js';
import { EventRepository } from './event.repository.js';
import type { EventType } from './event.view.js';
import { OptionRepository } from './option.repository.js';
import { orderErrors } from './order.errors.js';
import { OrderRepository } from './order.repository.js';
import type { MovedOrder } from './order.repository.js';
import { orderView } from './order.view.js';
import { WalletRepository } from './wallet.repository.js';

/**
 * The three ways in which an order ends: cancelled or expired before it is paid, refunded after. Each begins with one
 * guarded statement on the order; whoever gets it gives everything back in the same transaction, and nobody else does.
 * Locks in the order of all: order -> options ascending -> coupon -> wallet. The coupon itself is given back right after
 * the commit, by the coupon service.
 */
@Injectable()
export class ClosingService {
  constructor(
    private readonly database: Database,
    private readonly orders: OrderRepository,
    private readonly options: OptionRepository,
    private readonly wallets: WalletRepository,
    private readonly events: EventRepository,
    private readonly couponUses: CouponUseService,
  ) {}

  cancel(orderId: string, userId: string, request: IdempotentRequest): Promise<Answer> {
    return this.close(orderId, userId, request, 200, async (tx) => {
      const order = await this.orders.cancel(tx, orderId, userId);
      if (!order) throw await this.refusal(tx, orderId, userId, closingErrors.ORDER_NOT_CANCELLABLE);
      await this.giveBack(tx, order, 'OrderCancelled');
      return order;
    });
  }

  refund(orderId: string, userId: string, request: IdempotentRequest): Promise<Answer> {
    return this.close(orderId, userId, request, 201, async (tx) => {
      const order = await this.orders.refund(tx, orderId, userId);
      if (!order) throw await this.refusal(tx, orderId, userId, closingErrors.ORDER_NOT_REFUNDABLE);
      await this.options.takeBack(tx, orderId, order.options);
      if (order.userCouponId) await this.couponUses.release(tx, orderId);
      await this.wallets.refund(tx, userId, orderId, order.total);
      await this.events.append(tx, orderId, [
        { type: 'OrderRefunded', data: { total: order.total } },
        { type: 'StockReturned', data: {} },
        { type: 'PointsRefunded', data: { points: order.total } },
      ]);
      return order;
    });
  }

  /** Whether it was this call that did it: by then the order may be paid, cancelled, or expired by somebody else. */
  async expire(orderId: string): Promise<boolean> {
    const order = await this.database.transaction(async (tx) => {
      const due = await this.orders.expire(tx, orderId);
      if (due) await this.giveBack(tx, due, 'OrderExpired');
      return due;
    });
    if (order?.userCouponId) await this.couponUses.settle(orderId);
    return order !== undefined;
  }

  private async giveBack(tx: Transaction, { id, options, userCouponId }: MovedOrder, type: EventType): Promise<void> {
    await this.options.release(tx, id, options);
    if (userCouponId) await this.couponUses.release(tx, id);
    await this.events.append(tx, id, [
      { type, data: {} },
      { type: 'StockReleased', data: {} },
    ]);
  }

  private async close(
    orderId: string,
    userId: string,
    request: IdempotentRequest,
    status: 200 | 201,
    step: (tx: Transaction) => Promise<MovedOrder>,
  ): Promise<Answer> {
    const replayed = await idempotency.replay(this.database, request);
    if (replayed) return replayed;
    let moved: MovedOrder | undefined;
    const answer = await this.database.transaction((tx) =>
      idempotency.once(tx, request, async () => {
        moved = await step(tx);
        const view = orderView((await this.orders.find(tx, orderId, userId))!);
        return { status, body: JSON.stringify(view), replayed: false };
      }),
    );
    if (moved?.userCouponId) await this.couponUses.settle(orderId);
    return answer;
  }

  private async refusal(
    tx: Transaction,
    orderId: string,
    userId: string,
    notPossible: (typeof closingErrors)[keyof typeof closingErrors],
  ): Promise<Error> {
    const standing = await this.orders.standing(tx, orderId, userId);
    if (!standing) return orderErrors.ORDER_NOT_FOUND();
    return notPossible({ extra: { orderStatus: standing.status } });
  }
}
