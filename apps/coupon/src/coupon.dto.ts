import { IfGiven, IsLabel, PageQuery } from '@firstcome/http';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsDefined, IsIn, IsInt, IsObject, IsOptional, Max, Min, ValidateBy, ValidateNested } from 'class-validator';

export const couponStatuses = ['NOT_STARTED', 'ENDED', 'PAUSED', 'SOLD_OUT', 'ISSUABLE'] as const;
export const userCouponStatuses = ['ISSUED', 'RESERVED', 'USED', 'EXPIRED', 'REVOKED'] as const;
export type CouponStatus = (typeof couponStatuses)[number];
export type UserCouponStatus = (typeof userCouponStatuses)[number];

const maxPoints = 1_000_000_000;

// A day that no calendar has (30 February) would come back as another one, so the text must survive the trip.
const isUtcTime = (value: unknown): boolean => {
  if (typeof value !== 'string' || !/^(19[7-9]|[2-9]\d\d)\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(value))
    return false;
  const time = new Date(value);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value.slice(0, 19));
};
const IsUtcTime = () =>
  ValidateBy({
    name: 'isUtcTime',
    validator: {
      validate: isUtcTime,
      defaultMessage: (args) => `${args?.property} must be a UTC time like 2026-01-31T09:00:00Z`,
    },
  });

export class DiscountDto {
  @ApiProperty({ enum: ['FIXED', 'PERCENT'] })
  @IsIn(['FIXED', 'PERCENT'])
  type: 'FIXED' | 'PERCENT';

  @ApiProperty({ type: 'integer', minimum: 1, maximum: maxPoints, description: 'FIXED: points. PERCENT: 1 to 100.' })
  @IsInt()
  @Min(1)
  @Max(maxPoints)
  value: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: maxPoints,
    nullable: true,
    description: 'A cap in points.',
  })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(maxPoints)
  maxDiscount?: number | null;
}

export class CreateCouponDto {
  @ApiProperty({ minLength: 1, maxLength: 100 })
  @IsLabel(100)
  name: string;

  @ApiProperty({ type: DiscountDto })
  @IsDefined()
  @IsObject()
  @ValidateNested()
  @Type(() => DiscountDto)
  discount: DiscountDto;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: maxPoints, default: 0 })
  @IfGiven()
  @IsInt()
  @Min(0)
  @Max(maxPoints)
  minOrder: number = 0;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: maxPoints })
  @IsInt()
  @Min(1)
  @Max(maxPoints)
  total: number;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 1000, default: 1 })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(1000)
  perUserLimit: number = 1;

  @ApiPropertyOptional({ type: 'string', format: 'date-time', nullable: true })
  @IsOptional()
  @IsUtcTime()
  startsAt?: string | null;

  @ApiPropertyOptional({ type: 'string', format: 'date-time', nullable: true })
  @IsOptional()
  @IsUtcTime()
  endsAt?: string | null;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 3650,
    nullable: true,
    description: 'Days from the issue.',
  })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(3650)
  validDays?: number | null;
}

/** What is left out stays as it is; an endsAt of null takes the end away. */
export class ChangeCouponDto {
  @ApiPropertyOptional({ minLength: 1, maxLength: 100 })
  @IfGiven()
  @IsLabel(100)
  name?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: maxPoints, description: 'Never below what is issued.' })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(maxPoints)
  total?: number;

  @ApiPropertyOptional({ type: 'string', format: 'date-time', nullable: true })
  @IsOptional()
  @IsUtcTime()
  endsAt?: string | null;
}

export class CouponListQuery extends PageQuery {
  @ApiPropertyOptional({ enum: ['issuable'], description: 'Only coupons that can be had now.' })
  @IfGiven()
  @IsIn(['issuable'])
  status?: 'issuable';
}

export class MyCouponsQuery extends PageQuery {
  @ApiPropertyOptional({ enum: userCouponStatuses })
  @IfGiven()
  @IsIn(userCouponStatuses)
  status?: UserCouponStatus;
}

export class LabResetDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description: 'Empty this coupon; without it a fresh one is made.',
  })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  couponId?: number;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: maxPoints })
  @IsInt()
  @Min(1)
  @Max(maxPoints)
  total: number;
}
