import { CurrentUser, IdempotencyKey, PageQuery, Problems, sendAnswer } from '@firstcome/http';
import type { IdempotentRequest, User } from '@firstcome/http';
import { Body, Controller, Get, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ChargePointsDto } from './wallet.dto.js';
import { walletErrors } from './wallet.errors.js';
import { WalletService } from './wallet.service.js';
import { ChargeView, LedgerPage, WalletView } from './wallet.view.js';

@Controller('v1/me/points')
export class WalletController {
  constructor(private readonly wallets: WalletService) {}

  @Get()
  @ApiOkResponse({ type: WalletView })
  find(@CurrentUser() user: User): Promise<WalletView> {
    return this.wallets.find(user.id);
  }

  @Get('ledger')
  @ApiOkResponse({ type: LedgerPage })
  ledger(@CurrentUser() user: User, @Query() query: PageQuery): Promise<LedgerPage> {
    return this.wallets.ledger(user.id, query);
  }

  @Post('charges')
  @ApiCreatedResponse({ type: ChargeView })
  @Problems(walletErrors.BALANCE_LIMIT_EXCEEDED)
  async charge(
    @CurrentUser() user: User,
    @Body() { amount }: ChargePointsDto,
    @IdempotencyKey({ required: true }) request: IdempotentRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    sendAnswer(reply, await this.wallets.charge(user.id, amount, request));
  }
}
