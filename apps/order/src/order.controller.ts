import { AcceptedView, CurrentUser, IdempotencyKey, PathUuid, Problems, sendAnswer } from '@firstcome/http';
import type { IdempotentRequest, User } from '@firstcome/http';
import { Body, Controller, Get, Headers, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiHeader, ApiOkResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { EventView } from './event.view.js';
import { optionErrors } from './option.errors.js';
import { CreateOrderDto, CreateOrderQuery, MyOrdersQuery } from './order.dto.js';
import { orderErrors } from './order.errors.js';
import { OrderService } from './order.service.js';
import { OrderTicketService } from './order-ticket.service.js';
import { OrderPage, OrderView } from './order.view.js';
import { walletErrors } from './wallet.errors.js';

const { OPTION_NOT_FOUND, OUT_OF_STOCK, CONCURRENT_UPDATE, STRATEGY_UNKNOWN } = optionErrors;
const { ORDER_NOT_FOUND, PRICE_CHANGED, COUPON_NOT_USABLE, QUANTITY_LIMIT_EXCEEDED, TOTAL_LIMIT_EXCEEDED } =
  orderErrors;
const { MIN_ORDER_NOT_MET, UPSTREAM_UNAVAILABLE } = orderErrors;

@Controller('v1')
export class OrderController {
  constructor(
    private readonly orders: OrderService,
    private readonly tickets: OrderTicketService,
  ) {}

  @Post('orders')
  @ApiHeader({ name: 'X-Stock-Strategy', required: false, description: 'Lab only: the strategy of this one request.' })
  @ApiCreatedResponse({ type: OrderView })
  @ApiAcceptedResponse({ type: AcceptedView, description: 'LOCK_BACKEND_DOWN=defer only: placed once Redis is back.' })
  @Problems(
    OPTION_NOT_FOUND,
    OUT_OF_STOCK,
    CONCURRENT_UPDATE,
    COUPON_NOT_USABLE,
    MIN_ORDER_NOT_MET,
    UPSTREAM_UNAVAILABLE,
    PRICE_CHANGED,
    QUANTITY_LIMIT_EXCEEDED,
    TOTAL_LIMIT_EXCEEDED,
    STRATEGY_UNKNOWN,
    walletErrors.INSUFFICIENT_POINTS,
  )
  async create(
    @CurrentUser() user: User,
    @Body() order: CreateOrderDto,
    @Query() query: CreateOrderQuery,
    @IdempotencyKey({ required: true }) request: IdempotentRequest,
    @Headers('x-stock-strategy') strategy: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    sendAnswer(
      reply,
      await this.tickets.create({ userId: user.id, order, pay: query.pay === 'true', request, strategy }),
    );
  }

  @Get('orders/:id')
  @ApiOkResponse({ type: OrderView })
  @Problems(ORDER_NOT_FOUND)
  find(@PathUuid('id') id: string, @CurrentUser() user: User): Promise<OrderView> {
    return this.orders.find(id, user.id);
  }

  @Get('orders/:id/events')
  @ApiOkResponse({ type: [EventView] })
  @Problems(ORDER_NOT_FOUND)
  timeline(@PathUuid('id') id: string, @CurrentUser() user: User): Promise<EventView[]> {
    return this.orders.timeline(id, user.id);
  }

  @Get('me/orders')
  @ApiOkResponse({ type: OrderPage })
  mine(@CurrentUser() user: User, @Query() query: MyOrdersQuery): Promise<OrderPage> {
    return this.orders.list(user.id, query);
  }
}
