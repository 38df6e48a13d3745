import { IfGiven, PageQuery } from '@firstcome/http';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsInt, IsLowercase, IsObject, IsUUID } from 'class-validator';
import { Max, Min, ValidateNested } from 'class-validator';

export const orderStatuses = ['PENDING_PAYMENT', 'PAID', 'CANCELLED', 'EXPIRED', 'REFUNDED'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

export class OrderItemDto {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  optionId: number;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 1000 })
  @IsInt()
  @Min(1)
  @Max(1000)
  quantity: number;
}

export class CreateOrderDto {
  // IsObject as well: ValidateNested alone walks into an array in an array and finds nothing wrong with an empty one.
  @ApiProperty({ type: [OrderItemDto], minItems: 1, maxItems: 50, description: 'Items of one option are merged.' })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(50)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => OrderItemDto)
  items: OrderItemDto[];

  @ApiPropertyOptional({ format: 'uuid' })
  @IfGiven()
  @IsUUID()
  @IsLowercase()
  userCouponId?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Order at this total only.',
  })
  @IfGiven()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  expectedTotal?: number;
}

export class CreateOrderQuery {
  @ApiPropertyOptional({ enum: ['true', 'false'], default: 'false', description: 'Order and pay, all or nothing.' })
  @IfGiven()
  @IsIn(['true', 'false'])
  pay?: 'true' | 'false';
}

export class MyOrdersQuery extends PageQuery {
  @ApiPropertyOptional({ enum: orderStatuses })
  @IfGiven()
  @IsIn(orderStatuses)
  status?: OrderStatus;
}
