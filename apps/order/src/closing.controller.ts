import { CurrentUser, IdempotencyKey, PathUuid, Problems, sendAnswer } from '@firstcome/http';
import type { IdempotentRequest, User } from '@firstcome/http';
import { Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { closingErrors } from './closing.errors.js';
import { ClosingService } from './closing.service.js';
import { orderErrors } from './order.errors.js';
import { OrderView } from './order.view.js';

@Controller('v1/orders')
export class ClosingController {
  constructor(private readonly closings: ClosingService) {}

  @Post(':id/cancellations')
  @HttpCode(200)
  @ApiOkResponse({ type: OrderView })
  @Problems(orderErrors.ORDER_NOT_FOUND, closingErrors.ORDER_NOT_CANCELLABLE)
  async cancel(
    @PathUuid('id') id: string,
    @CurrentUser() user: User,
    @IdempotencyKey({ required: true }) request: IdempotentRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    sendAnswer(reply, await this.closings.cancel(id, user.id, request));
  }

  @Post(':id/refunds')
  @ApiCreatedResponse({ type: OrderView })
  @Problems(orderErrors.ORDER_NOT_FOUND, closingErrors.ORDER_NOT_REFUNDABLE)
  async refund(
    @PathUuid('id') id: string,
    @CurrentUser() user: User,
    @IdempotencyKey({ required: true }) request: IdempotentRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    sendAnswer(reply, await this.closings.refund(id, user.id, request));
  }
}
