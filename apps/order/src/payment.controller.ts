import { CurrentUser, IdempotencyKey, PathUuid, Problems, sendAnswer } from '@firstcome/http';
import type { IdempotentRequest, User } from '@firstcome/http';
import { Body, Controller, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { orderErrors } from './order.errors.js';
import { OrderView } from './order.view.js';
import { PayOrderDto } from './payment.dto.js';
import { paymentErrors } from './payment.errors.js';
import { PaymentService } from './payment.service.js';
import { walletErrors } from './wallet.errors.js';

const { ORDER_NOT_PAYABLE, ORDER_EXPIRED } = paymentErrors;

@Controller('v1/orders')
export class PaymentController {
  constructor(private readonly payments: PaymentService) {}

  @Post(':id/payments')
  @ApiCreatedResponse({ type: OrderView })
  @Problems(orderErrors.ORDER_NOT_FOUND, ORDER_NOT_PAYABLE, ORDER_EXPIRED, walletErrors.INSUFFICIENT_POINTS)
  async pay(
    @PathUuid('id') id: string,
    @CurrentUser() user: User,
    @Body() { method }: PayOrderDto,
    @IdempotencyKey({ required: true }) request: IdempotentRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    sendAnswer(reply, await this.payments.pay(id, user.id, method, request));
  }
}
