import { ApiProperty } from '@nestjs/swagger';

export const eventTypes = [
  'OrderCreated',
  'StockReserved',
  'CouponReserved',
  'PointsSpent',
  'OrderPaid',
  'OrderCancelled',
  'OrderExpired',
  'StockReleased',
  'OrderRefunded',
  'StockReturned',
  'PointsRefunded',
  'CouponConfirmed',
  'CouponReleased',
] as const;
export type EventType = (typeof eventTypes)[number];

export class EventView {
  @ApiProperty({ type: 'integer', description: 'From 1 without gaps.' }) seq: number;
  @ApiProperty({ enum: eventTypes }) type: EventType;
  @ApiProperty({ type: 'object', additionalProperties: true }) data: Record<string, unknown>;
  @ApiProperty({ type: 'string', format: 'date-time' }) at: Date;
}
