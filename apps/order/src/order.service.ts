import { decodeCursor, idempotency, page, uuidv7 } from '@firstcome/http';
import type { Answer, IdempotentRequest } from '@firstcome/http';
import { Database } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from './config.js';
import type { Config } from './config.js';
import { EventRepository } from './event.repository.js';
import type { EventView } from './event.view.js';
import type { CreateOrderDto, MyOrdersQuery } from './order.dto.js';
import { orderErrors } from './order.errors.js';
import { OrderRepository } from './order.repository.js';
import { orderView } from './order.view.js';
import type { OrderPage, OrderView } from './order.view.js';
import { PaymentService } from './payment.service.js';
import { basketOf, subtotalOf } from './stock/basket.js';
import { Strategies } from './stock/strategies.js';
import type { BasketLine, StockStrategy } from './stock/strategy.js';

/** What one user asks for in one request. */
export interface Purchase {
  userId: string;
  order: CreateOrderDto;
  pay: boolean;
  request: IdempotentRequest;
  /** X-Stock-Strategy, where it was sent. */
  strategy?: string;
}

@Injectable()
export class OrderService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly orders: OrderRepository,
    private readonly events: EventRepository,
    private readonly payments: PaymentService,
    private readonly strategies: Strategies,
  ) {}

  /** A repeated request gets its stored answer before anything can refuse or delay it. */
  async create(purchase: Purchase): Promise<Answer> {
    const strategy = this.strategies.choose(purchase.strategy);
    const replayed = await idempotency.replay(this.database, purchase.request);
    if (replayed) return replayed;
    const basket = basketOf(purchase.order.items);
    return strategy.inTurn(basket, () =>
      this.database.transaction((tx) =>
        idempotency.once(tx, purchase.request, () => this.place(tx, purchase, basket, strategy)),
      ),
    );
  }

  async find(id: string, userId: string): Promise<OrderView> {
    const row = await this.orders.find(this.database, id, userId);
    if (!row) throw orderErrors.ORDER_NOT_FOUND();
    return orderView(row);
  }

  async list(userId: string, { limit, cursor, status }: MyOrdersQuery): Promise<OrderPage> {
    const [before] = cursor ? decodeCursor(cursor, ['uuid']) : [];
    return page(await this.orders.page(userId, before, status, limit + 1), limit, orderView);
  }

  async timeline(id: string, userId: string): Promise<EventView[]> {
    const events = await this.events.list(id, userId);
    if (events.length === 0) throw orderErrors.ORDER_NOT_FOUND();
    return events;
  }

  /** One transaction: reserve, check the price, write the order, pay it where asked to. Whatever throws undoes it all. */
  private async place(
    tx: Transaction,
    purchase: Purchase,
    basket: BasketLine[],
    strategy: StockStrategy,
  ): Promise<Answer> {
    const { userId, order, pay } = purchase;
    // No coupon can be reserved for an order yet, so that none that is named is usable.
    if (order.userCouponId !== undefined) throw orderErrors.COUPON_NOT_USABLE();

    const options = await strategy.reserve(tx, basket);
    const subtotal = subtotalOf(basket, options);
    const discount = 0;
    const total = subtotal - discount;
    if (order.expectedTotal !== undefined && order.expectedTotal !== total)
      throw orderErrors.PRICE_CHANGED({ extra: { total } });

    const id = uuidv7();
    const items = options.map(({ optionId, name, price }, at) => ({
      optionId,
      name,
      price,
      quantity: basket[at]!.quantity,
    }));
    const ttlMs = this.config.orderTtlMs;
    await this.orders.create(tx, { id, userId, items, subtotal, discount, total, userCouponId: null, ttlMs });
    await this.events.append(tx, id, [
      { type: 'OrderCreated', data: { items, subtotal, discount, total } },
      { type: 'StockReserved', data: { items: basket.map(({ optionId, quantity }) => ({ optionId, quantity })) } },
    ]);
    if (pay) await this.payments.settle(tx, id, userId, 'POINTS');

    const view = orderView((await this.orders.find(tx, id, userId))!);
    return { status: 201, body: JSON.stringify(view), replayed: false, headers: { location: `/v1/orders/${id}` } };
  }
}
