import { decodeCursor, idempotency, page, uuidv7 } from '@firstcome/http';
import type { Answer, IdempotentRequest } from '@firstcome/http';
import { Database } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from './config.js';
import type { Config } from './config.js';
import { COORDINATION } from './coordination/strategy.js';
import type { Coordination, CouponHold, CouponWish, Transact } from './coordination/strategy.js';
import { CouponUseService } from './coupon-use.service.js';
import { EventRepository } from './event.repository.js';
import type { EventView } from './event.view.js';
import type { CreateOrderDto, MyOrdersQuery } from './order.dto.js';
import { optionErrors } from './option.errors.js';
import { OptionRepository } from './option.repository.js';
import { orderErrors } from './order.errors.js';
import { OrderRepository } from './order.repository.js';
import { orderView } from './order.view.js';
import type { OrderPage, OrderView } from './order.view.js';
import { PaymentService } from './payment.service.js';
import { basketOf, subtotalOf } from './stock/basket.js';
import { Strategies } from './stock/strategies.js';
import { underSafetyNet } from './stock/counters.js';
import type { BasketLine, StockStrategy, Turn } from './stock/strategy.js';

/** What one user asks for in one request. */
export interface Purchase {
  userId: string;
  order: CreateOrderDto;
  pay: boolean;
  request: IdempotentRequest;
  /** X-Stock-Strategy, where it was sent. */
  strategy?: string;
}

interface Placing {
  basket: BasketLine[];
  strategy: StockStrategy;
  turn?: Turn;
  hold?: CouponHold;
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
    private readonly options: OptionRepository,
    private readonly couponUses: CouponUseService,
    @Inject(COORDINATION) private readonly coordination: Coordination,
  ) {}

  /** A repeated request gets its stored answer before anything can refuse or delay it. */
  async create(purchase: Purchase): Promise<Answer> {
    const strategy = this.strategies.choose(purchase.strategy);
    const replayed = await idempotency.replay(this.database, purchase.request);
    if (replayed) return replayed;
    const basket = basketOf(purchase.order.items);
    const commit: Transact = (work, options) => this.database.transaction(work, options);
    const decide = (hold?: CouponHold, transact = commit) =>
      strategy.inTurn(basket, (turn) =>
        transact(
          (tx) =>
            idempotency.once(tx, purchase.request, () => this.place(tx, purchase, { basket, strategy, turn, hold }), {
              begun: hold?.begun,
            }),
          { beforeCommit: () => turn?.assertHeld() },
        ),
      );
    const wish = strategy.keep ? undefined : await this.couponWish(purchase, basket);
    return wish ? this.coordination.place(wish, decide) : decide();
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

  /** The coupon service is asked before a turn is taken or a connection used: it may take its time. */
  private async couponWish(
    { order: { userCouponId }, userId, pay, request }: Purchase,
    basket: BasketLine[],
  ): Promise<CouponWish | undefined> {
    if (userCouponId === undefined) return undefined;
    const prices = await this.options.prices(basket.map((line) => line.optionId));
    // An option is missing, which the order's transaction says in its own words.
    if (prices.length !== basket.length) return undefined;
    return { userCouponId, userId, subtotal: subtotalOf(basket, prices), pay, request };
  }

  /** One transaction: reserve, check the price, write the order, pay it where asked to. Whatever throws undoes it all. */
  private async place(tx: Transaction, purchase: Purchase, { basket, strategy, turn, hold }: Placing): Promise<Answer> {
    const { userId, order, pay } = purchase;
    if (hold?.refusal) throw hold.refusal;
    // What is unguarded takes no coupon: nothing would ever give it back.
    if (strategy.keep && order.userCouponId !== undefined) throw orderErrors.COUPON_NOT_USABLE();

    const options = await underSafetyNet(strategy.name, () => strategy.reserve(tx, basket, turn));
    const subtotal = subtotalOf(basket, options);
    // The discount is of the subtotal that the coupon service was told.
    if (order.userCouponId !== undefined && hold?.subtotal !== subtotal) throw optionErrors.CONCURRENT_UPDATE();
    const discount = hold?.discount ?? 0;
    const total = subtotal - discount;
    if (order.expectedTotal !== undefined && order.expectedTotal !== total)
      throw orderErrors.PRICE_CHANGED({ extra: { total } });

    const id = hold?.orderId ?? uuidv7();
    const userCouponId = hold?.userCouponId ?? null;
    const items = options.map(({ optionId, name, price }, at) => ({
      optionId,
      name,
      price,
      quantity: basket[at]!.quantity,
    }));
    const ttlMs = this.config.orderTtlMs;
    const placed = { id, userId, items, subtotal, discount, total, userCouponId, ttlMs };
    if (strategy.keep) return created(await strategy.keep(tx, placed, pay));
    await this.orders.create(tx, placed, [
      { type: 'OrderCreated', data: { items, subtotal, discount, total } },
      { type: 'StockReserved', data: { items: basket.map(({ optionId, quantity }) => ({ optionId, quantity })) } },
      ...(hold ? [{ type: 'CouponReserved' as const, data: { userCouponId, discount } }] : []),
    ]);
    if (hold) await this.couponUses.keep(tx, id);
    if (pay) await this.payments.settle(tx, id, userId, 'POINTS');
    if (hold?.used) await this.couponUses.confirmed(tx, id);

    return created(orderView((await this.orders.find(tx, id, userId))!));
  }
}

function created(view: OrderView): Answer {
  const headers = { location: `/v1/orders/${view.orderId}` };
  return { status: 201, body: JSON.stringify(view), replayed: false, headers };
}
