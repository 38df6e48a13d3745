import { IfGiven } from '@firstcome/http';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { IsId, ReserveDto } from './user-coupon.dto.js';

export class PrepareDto extends ReserveDto {
  @ApiProperty({ format: 'uuid' })
  @IsId('userCouponId')
  userCouponId: string;

  @ApiPropertyOptional({
    type: 'boolean',
    default: false,
    description: 'Used at once, by an order that is paid at once.',
  })
  @IfGiven()
  @IsBoolean()
  pay?: boolean;
}

export const transactionOutcomes = ['COMMITTED', 'ROLLED_BACK'] as const;
export type TransactionOutcome = (typeof transactionOutcomes)[number];

export class TransactionView {
  @ApiProperty() gid: string;
  @ApiProperty({ enum: transactionOutcomes }) outcome: TransactionOutcome;
}
