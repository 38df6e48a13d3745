import { idempotency, uuidv7 } from '@firstcome/http';
import type { Answer, IdempotentRequest } from '@firstcome/http';
import { Database } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { CouponUseService } from './coupon-use.service.js';
import { OptionRepository } from './option.repository.js';
import { orderErrors } from './order.errors.js';
import { OrderRepository } from './order.repository.js';
import type { MovedOrder } from './order.repository.js';
import { orderView } from './order.view.js';
import type { PaymentMethod } from './payment.dto.js';
import { paymentErrors } from './payment.errors.js';
import { PaymentRepository } from './payment.repository.js';
import { walletErrors } from './wallet.errors.js';
import { WalletRepository } from './wallet.repository.js';

@Injectable()
export class PaymentService {
  constructor(
    private readonly database: Database,
    private readonly orders: OrderRepository,
    private readonly options: OptionRepository,
    private readonly wallets: WalletRepository,
    private readonly payments: PaymentRepository,
    private readonly couponUses: CouponUseService,
  ) {}

  async pay(orderId: string, userId: string, method: PaymentMethod, request: IdempotentRequest): Promise<Answer> {
    const replayed = await idempotency.replay(this.database, request);
    if (replayed) return replayed;
    let paid: MovedOrder | undefined;
    const answer = await this.database.transaction((tx) =>
      idempotency.once(tx, request, async () => {
        paid = await this.settle(tx, orderId, userId, method);
        const view = orderView((await this.orders.find(tx, orderId, userId))!);
        return { status: 201, body: JSON.stringify(view), replayed: false };
      }),
    );
    if (paid?.userCouponId) await this.couponUses.settle(orderId);
    return answer;
  }

  /** PENDING_PAYMENT -> PAID with all that belongs to it, in the lock order order -> options ascending -> coupon -> wallet. */
  async settle(tx: Transaction, orderId: string, userId: string, method: PaymentMethod): Promise<MovedOrder> {
    const order = await this.orders.pay(tx, orderId, userId);
    if (!order) throw await this.refusal(tx, orderId, userId);

    await this.options.takeReserved(tx, orderId, order.options);
    if (order.userCouponId) await this.couponUses.confirm(tx, orderId);
    if (!(await this.wallets.spend(tx, userId, orderId, order.total))) throw walletErrors.INSUFFICIENT_POINTS();

    const paymentId = uuidv7();
    await this.payments.create(tx, { id: paymentId, orderId, method, amount: order.total }, [
      { type: 'PointsSpent', data: { points: order.total } },
      { type: 'OrderPaid', data: { paymentId, method, total: order.total } },
    ]);
    return order;
  }

  private async refusal(tx: Transaction, orderId: string, userId: string): Promise<Error> {
    const standing = await this.orders.standing(tx, orderId, userId);
    if (!standing) return orderErrors.ORDER_NOT_FOUND();
    const { status, overdue } = standing;
    if (status === 'EXPIRED' || (status === 'PENDING_PAYMENT' && overdue)) return paymentErrors.ORDER_EXPIRED();
    return paymentErrors.ORDER_NOT_PAYABLE({ extra: { orderStatus: status } });
  }
}
