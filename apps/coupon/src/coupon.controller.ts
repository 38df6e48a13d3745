import {
  AcceptedView,
  CurrentUser,
  httpErrors,
  IdempotencyKey,
  PathId,
  Problems,
  Public,
  sendAnswer,
} from '@firstcome/http';
import type { IdempotentRequest, User } from '@firstcome/http';
import { databaseErrors } from '@firstcome/postgres';
import { Controller, Get, Headers, HttpCode, Ip, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiHeader, ApiOkResponse } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CouponListQuery, MyCouponsQuery } from './coupon.dto.js';
import { couponErrors } from './coupon.errors.js';
import { CouponService } from './coupon.service.js';
import { CouponPage, CouponView, UserCouponPage, UserCouponView } from './coupon.view.js';

@Controller('v1')
export class CouponController {
  constructor(private readonly coupons: CouponService) {}

  @Public()
  @Get('coupons')
  @ApiOkResponse({ type: CouponPage })
  list(@Query() query: CouponListQuery): Promise<CouponPage> {
    return this.coupons.list(query);
  }

  @Public()
  @Get('coupons/:id')
  @ApiOkResponse({ type: CouponView })
  @Problems(couponErrors.COUPON_NOT_FOUND)
  find(@PathId('id') id: number): Promise<CouponView> {
    return this.coupons.find(id);
  }

  @Post('coupons/:id/issues')
  @HttpCode(201)
  @ApiHeader({ name: 'X-Issue-Strategy', required: false, description: 'Lab only: the strategy of this one request.' })
  @ApiCreatedResponse({ type: UserCouponView })
  @ApiAcceptedResponse({ type: AcceptedView, description: 'LOCK_BACKEND_DOWN=defer only: issued once Redis is back.' })
  @Problems(
    couponErrors.COUPON_NOT_FOUND,
    couponErrors.COUPON_NOT_STARTED,
    couponErrors.COUPON_ENDED,
    couponErrors.COUPON_PAUSED,
    couponErrors.COUPON_ALREADY_ISSUED,
    couponErrors.COUPON_SOLD_OUT,
    couponErrors.STRATEGY_UNKNOWN,
    httpErrors.IDEMPOTENCY_KEY_INVALID,
    httpErrors.IDEMPOTENCY_KEY_REUSED,
    httpErrors.IDEMPOTENCY_IN_PROGRESS,
    httpErrors.RATE_LIMITED,
    databaseErrors.CONCURRENT_UPDATE,
  )
  async issue(
    @PathId('id') id: number,
    @CurrentUser() user: User,
    @Ip() address: string,
    @IdempotencyKey({ required: false }) request: IdempotentRequest,
    @Headers('x-issue-strategy') strategy: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    sendAnswer(reply, await this.coupons.issue(id, user.id, address, request, strategy));
  }

  @Get('me/coupons')
  @ApiOkResponse({ type: UserCouponPage })
  mine(@CurrentUser() user: User, @Query() query: MyCouponsQuery): Promise<UserCouponPage> {
    return this.coupons.listOfUser(user.id, query);
  }
}
