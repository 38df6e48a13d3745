import { AdminOnly, CurrentUser, PathId, PathUuid, Problems } from '@firstcome/http';
import type { User } from '@firstcome/http';
import { databaseErrors } from '@firstcome/postgres';
import { Body, Controller, HttpCode, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { ChangeCouponDto, CreateCouponDto } from './coupon.dto.js';
import { couponErrors } from './coupon.errors.js';
import { CouponService } from './coupon.service.js';
import { CouponView, UserCouponView } from './coupon.view.js';

@AdminOnly()
@Controller('v1/admin')
export class CouponAdminController {
  constructor(private readonly coupons: CouponService) {}

  @Post('coupons')
  @ApiCreatedResponse({ type: CouponView })
  @Problems(couponErrors.COUPON_RULES_INVALID)
  create(@Body() coupon: CreateCouponDto): Promise<CouponView> {
    return this.coupons.create(coupon);
  }

  @Patch('coupons/:id')
  @ApiOkResponse({ type: CouponView })
  @Problems(
    couponErrors.COUPON_NOT_FOUND,
    couponErrors.COUPON_TOTAL_BELOW_ISSUED,
    couponErrors.COUPON_RULES_INVALID,
    couponErrors.DESK_TAKEN,
    databaseErrors.CONCURRENT_UPDATE,
  )
  change(@PathId('id') id: number, @Body() change: ChangeCouponDto, @CurrentUser() user: User): Promise<CouponView> {
    return this.coupons.change(id, change, user);
  }

  @Post('coupons/:id/pause')
  @HttpCode(200)
  @ApiOkResponse({ type: CouponView })
  @Problems(couponErrors.COUPON_NOT_FOUND, couponErrors.DESK_TAKEN, databaseErrors.CONCURRENT_UPDATE)
  pause(@PathId('id') id: number, @CurrentUser() user: User): Promise<CouponView> {
    return this.coupons.setPaused(id, true, user);
  }

  @Post('coupons/:id/resume')
  @HttpCode(200)
  @ApiOkResponse({ type: CouponView })
  @Problems(couponErrors.COUPON_NOT_FOUND, couponErrors.DESK_TAKEN, databaseErrors.CONCURRENT_UPDATE)
  resume(@PathId('id') id: number, @CurrentUser() user: User): Promise<CouponView> {
    return this.coupons.setPaused(id, false, user);
  }

  @Post('user-coupons/:id/revocations')
  @HttpCode(200)
  @ApiOkResponse({ type: UserCouponView })
  @Problems(
    couponErrors.USER_COUPON_NOT_FOUND,
    couponErrors.USER_COUPON_NOT_REVOCABLE,
    databaseErrors.CONCURRENT_UPDATE,
  )
  revoke(@PathUuid('id') id: string): Promise<UserCouponView> {
    return this.coupons.revoke(id);
  }
}
