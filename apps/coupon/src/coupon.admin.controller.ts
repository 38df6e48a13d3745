import { AdminOnly, Problems } from '@firstcome/http';
import { Body, Controller, Post } from '@nestjs/common';
import { ApiCreatedResponse } from '@nestjs/swagger';
import { CreateCouponDto } from './coupon.dto.js';
import { couponErrors } from './coupon.errors.js';
import { CouponService } from './coupon.service.js';
import { CouponView } from './coupon.view.js';

@AdminOnly()
@Controller('v1/admin/coupons')
export class CouponAdminController {
  constructor(private readonly coupons: CouponService) {}

  @Post()
  @ApiCreatedResponse({ type: CouponView })
  @Problems(couponErrors.COUPON_RULES_INVALID)
  create(@Body() coupon: CreateCouponDto): Promise<CouponView> {
    return this.coupons.create(coupon);
  }
}
