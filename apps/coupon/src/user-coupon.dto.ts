import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsString, Length, Matches, Max, Min } from 'class-validator';
import { userCouponStatuses } from './coupon.dto.js';
import type { UserCouponStatus } from './coupon.dto.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const IsId = (name: string) => Matches(uuid, { message: `${name} must be a UUID in lower case` });

export class ReserveDto {
  @ApiProperty({ format: 'uuid' })
  @IsId('orderId')
  orderId: string;

  @ApiProperty({ minLength: 1, maxLength: 255 })
  @IsString()
  @Length(1, 255)
  userId: string;

  @ApiProperty({ type: 'integer', minimum: 0 })
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  subtotal: number;
}

/** Of confirm and release. */
export class OrderDto {
  @ApiProperty({ format: 'uuid' })
  @IsId('orderId')
  orderId: string;
}

export class CouponUseView {
  @ApiProperty({ format: 'uuid' }) userCouponId: string;
  @ApiProperty({ type: 'integer' }) couponId: number;
  @ApiProperty({ format: 'uuid' }) orderId: string;
  @ApiProperty({ enum: userCouponStatuses, description: 'Of the user coupon, after this.' }) status: UserCouponStatus;
  @ApiProperty({ type: 'integer', description: 'Points off this order; 0 once released.' }) discount: number;
}
