import { PathName, Problems, ServiceOnly } from '@firstcome/http';
import { databaseErrors } from '@firstcome/postgres';
import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { couponErrors } from './coupon.errors.js';
import { PrepareDto, TransactionView } from './transaction.dto.js';
import { transactionErrors } from './transaction.errors.js';
import { TransactionService } from './transaction.service.js';
import { CouponUseView } from './user-coupon.dto.js';

const { USER_COUPON_NOT_FOUND, COUPON_NOT_USABLE, MIN_ORDER_NOT_MET } = couponErrors;
const { TRANSACTION_NOT_FOUND, TRANSACTION_DECIDED } = transactionErrors;
const { CONCURRENT_UPDATE, DATABASE_UNAVAILABLE } = databaseErrors;

/** Two-phase commit of an order with a coupon: the order service decides, and says so here. Each is idempotent per gid. */
@ServiceOnly()
@Controller('internal/v1/transactions')
export class TransactionController {
  constructor(private readonly transactions: TransactionService) {}

  @Post(':gid/prepare')
  @HttpCode(200)
  @ApiOkResponse({ type: CouponUseView })
  @Problems(USER_COUPON_NOT_FOUND, COUPON_NOT_USABLE, MIN_ORDER_NOT_MET, CONCURRENT_UPDATE, DATABASE_UNAVAILABLE)
  prepare(@PathName('gid') gid: string, @Body() order: PrepareDto): Promise<CouponUseView> {
    return this.transactions.prepare(gid, order);
  }

  @Post(':gid/commit')
  @HttpCode(200)
  @ApiOkResponse({ type: TransactionView })
  @Problems(TRANSACTION_NOT_FOUND, TRANSACTION_DECIDED, CONCURRENT_UPDATE)
  commit(@PathName('gid') gid: string): Promise<TransactionView> {
    return this.transactions.commit(gid);
  }

  @Post(':gid/rollback')
  @HttpCode(200)
  @ApiOkResponse({ type: TransactionView })
  @Problems(TRANSACTION_DECIDED, CONCURRENT_UPDATE)
  rollback(@PathName('gid') gid: string): Promise<TransactionView> {
    return this.transactions.rollback(gid);
  }
}
