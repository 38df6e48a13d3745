import { PathUuid, Problems, ServiceOnly } from '@firstcome/http';
import { databaseErrors } from '@firstcome/postgres';
import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { couponErrors } from './coupon.errors.js';
import { CouponUseView, OrderDto, ReserveDto } from './user-coupon.dto.js';
import { UserCouponService } from './user-coupon.service.js';

const { USER_COUPON_NOT_FOUND, COUPON_NOT_USABLE, MIN_ORDER_NOT_MET } = couponErrors;
const { CONCURRENT_UPDATE } = databaseErrors;

/** What the order service does with a user coupon. Each is idempotent per order. */
@ServiceOnly()
@Controller('internal/v1/user-coupons')
export class UserCouponController {
  constructor(private readonly userCoupons: UserCouponService) {}

  @Post(':id/reserve')
  @HttpCode(200)
  @ApiOkResponse({ type: CouponUseView })
  @Problems(USER_COUPON_NOT_FOUND, COUPON_NOT_USABLE, MIN_ORDER_NOT_MET, CONCURRENT_UPDATE)
  reserve(@PathUuid('id') id: string, @Body() order: ReserveDto): Promise<CouponUseView> {
    return this.userCoupons.reserve(id, order);
  }

  @Post(':id/confirm')
  @HttpCode(200)
  @ApiOkResponse({ type: CouponUseView })
  @Problems(USER_COUPON_NOT_FOUND, COUPON_NOT_USABLE, CONCURRENT_UPDATE)
  confirm(@PathUuid('id') id: string, @Body() { orderId }: OrderDto): Promise<CouponUseView> {
    return this.userCoupons.confirm(id, orderId);
  }

  @Post(':id/release')
  @HttpCode(200)
  @ApiOkResponse({ type: CouponUseView })
  @Problems(USER_COUPON_NOT_FOUND, CONCURRENT_UPDATE)
  release(@PathUuid('id') id: string, @Body() { orderId }: OrderDto): Promise<CouponUseView> {
    return this.userCoupons.release(id, orderId);
  }
}
