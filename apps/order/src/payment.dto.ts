import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';

export const paymentMethods = ['POINTS'] as const;
export type PaymentMethod = (typeof paymentMethods)[number];

export class PayOrderDto {
  @ApiProperty({ enum: paymentMethods })
  @IsIn(paymentMethods)
  method: PaymentMethod;
}
