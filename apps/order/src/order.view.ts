import { ApiProperty } from '@nestjs/swagger';
import { orderStatuses } from './order.dto.js';
import type { OrderStatus } from './order.dto.js';
import type { OrderRow } from './order.repository.js';

export class OrderItemView {
  @ApiProperty({ type: 'integer' }) optionId: number;
  @ApiProperty() name: string;
  @ApiProperty({ type: 'integer', description: 'Points for one piece, when it was ordered.' }) price: number;
  @ApiProperty({ type: 'integer' }) quantity: number;
}

export class OrderView {
  @ApiProperty({ format: 'uuid' }) orderId: string;
  @ApiProperty({ enum: orderStatuses }) status: OrderStatus;
  @ApiProperty({ type: [OrderItemView], description: 'One per option, ascending.' }) items: OrderItemView[];
  @ApiProperty({ type: 'integer' }) subtotal: number;
  @ApiProperty({ type: 'integer' }) discount: number;
  @ApiProperty({ type: 'integer' }) total: number;
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true }) userCouponId: string | null;
  @ApiProperty({ type: 'string', format: 'date-time', description: 'Unpaid by then, the order lapses.' })
  expiresAt: Date;
  @ApiProperty({ type: 'string', format: 'date-time' }) createdAt: Date;
  @ApiProperty({ type: 'string', format: 'date-time', nullable: true }) paidAt: Date | null;
  @ApiProperty({ type: 'string', format: 'uuid', nullable: true }) paymentId: string | null;
}

export class OrderPage {
  @ApiProperty({ type: [OrderView] }) items: OrderView[];
  @ApiProperty({ type: 'string', nullable: true }) nextCursor: string | null;
}

export function orderView({ id, status, items, subtotal, discount, total, userCouponId, ...row }: OrderRow): OrderView {
  const { expiresAt, createdAt, paidAt, paymentId } = row;
  return {
    orderId: id,
    status,
    items,
    subtotal,
    discount,
    total,
    userCouponId,
    expiresAt,
    createdAt,
    paidAt,
    paymentId,
  };
}
