import { ApiProperty } from '@nestjs/swagger';
import { couponStatuses, DiscountDto, userCouponStatuses } from './coupon.dto.js';
import type { CouponStatus, UserCouponStatus } from './coupon.dto.js';

// What goes out. The rows of the repository carry more (fence, order, the paused flag) and never leave as they are.

export class CouponView {
  @ApiProperty({ type: 'integer' }) id: number;
  @ApiProperty() name: string;
  @ApiProperty({ type: DiscountDto }) discount: { type: string; value: number; maxDiscount?: number };
  @ApiProperty({ type: 'integer' }) minOrder: number;
  @ApiProperty({ type: 'integer' }) total: number;
  @ApiProperty({ type: 'integer' }) issued: number;
  @ApiProperty({ type: 'integer' }) remaining: number;
  @ApiProperty({ type: 'integer' }) perUserLimit: number;
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true }) startsAt: Date | null;
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true }) endsAt: Date | null;
  @ApiProperty({ enum: couponStatuses }) status: CouponStatus;
}

export class UserCouponView {
  @ApiProperty({ format: 'uuid' }) userCouponId: string;
  @ApiProperty({ type: 'integer' }) couponId: number;
  @ApiProperty() userId: string;
  @ApiProperty({ type: 'integer', description: '1 to total without gaps, in the order of issue.' }) serial: number;
  @ApiProperty({ enum: userCouponStatuses }) status: UserCouponStatus;
  @ApiProperty({ type: 'string', format: 'date-time' }) issuedAt: Date;
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true }) expiresAt: Date | null;
}

export class CouponPage {
  @ApiProperty({ type: [CouponView] }) items: CouponView[];
  @ApiProperty({ type: 'string', nullable: true }) nextCursor: string | null;
}

export class UserCouponPage {
  @ApiProperty({ type: [UserCouponView] }) items: UserCouponView[];
  @ApiProperty({ type: 'string', nullable: true }) nextCursor: string | null;
}
